#include "app/cli/remote_options.h"

#include "app/remote/field_lists.h"
#include "app/remote/wire.h"

namespace triescope::app {

void RemoteOptions::add_to(CLI::App& command) {
  auto* host = command.add_option(
      "--remote", place_.host,
      "decode on another machine, by ssh: user@host, with triescope there (docs/remote.md)");
  command
      .add_option("--remote-command", place_.command,
                  "a command in the place of `ssh user@host`, such as 'docker exec -i box'")
      ->excludes(host);
  command.add_option("--remote-program", place_.program, "where triescope lies there")
      ->capture_default_str();
}

void RemoteOptions::add_session_to(CLI::App& command) {
  auto* attach = command.add_option("--attach", place_.attach,
                                    "with --remote: a session that runs there (`triescope serve "
                                    "--list` there names them)");
  command.add_flag("--watch", place_.watch, "see that session without commanding it")
      ->needs(attach);
}

std::unique_ptr<RemoteHost> connect_to(const RemotePlace& place, std::function<void()> wake) {
  auto host = remote_host(place, std::move(wake));
  host->wait_connected();
  return host;
}

Report remote_report(const RemoteOptions& remote, const std::string& name,
                     const nlohmann::json& about) {
  const auto host = connect_to(remote.place(), [] {});
  const nlohmann::json answer = host->report(name, about, std::chrono::minutes(10));
  Report report;
  if (!answer.is_object()) refuse_field(name, "a report");
  FieldReader read(answer);
  read("json", report.json), read("text", report.text), read("exit_code", report.exit_code);
  report.text = plain_text(report.text, report.text.size());
  return report;
}

}  // namespace triescope::app
