#include "app/remote/dial.h"

#include <algorithm>
#include <utility>

#include "app/session/folders.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

// A word as a shell reads it back.
std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) || c == '/' || c == '.' || c == '-' || c == '_' || c == '~';
  });
  if (plain) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

bool says(const std::string& text, const char* what) {
  return text.find(what) != std::string::npos;
}

}  // namespace

std::string where_text(const RemotePlace& place) {
  return place.host.empty() ? place.command : place.host;
}

std::vector<std::string> dial_command(const RemotePlace& place, const std::string& session) {
  if (place.watch && session.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "to watch: expected the name of a session (--attach NAME; `triescope serve --list` "
                "there names them)");
  std::vector<std::string> there = {place.program, "serve", "--stdio"};
  if (!session.empty()) {
    there.emplace_back(place.watch ? "--watch" : "--attach");
    there.push_back(session);
  }
  if (!place.command.empty()) {
    // The shell splits the command; what follows reaches it as it is.
    std::vector<std::string> words = {"sh", "-c", "exec " + place.command + " \"$@\"", "sh"};
    words.insert(words.end(), there.begin(), there.end());
    return words;
  }
  if (place.host.empty() || place.host.starts_with('-') ||
      std::ranges::any_of(place.host, [](unsigned char c) { return c <= ' ' || c == 127; }))
    throw Error(ErrorCode::kInvalidArgument,
                "remote: expected user@host or a host's name, found '" + place.host + "'");
  std::string command;
  for (const std::string& word : there) command += (command.empty() ? "" : " ") + shell_word(word);
  return {"ssh",
          "-T",
          "-o",
          "BatchMode=yes",  // there is no terminal to ask on
          "-o",
          "ConnectTimeout=20",
          "-o",
          "ServerAliveInterval=15",
          "-o",
          "ServerAliveCountMax=3",
          "--",
          place.host,
          command};
}

std::string explain_end(const RemotePlace& place, int exit_code, const std::string& said) {
  const std::string where = where_text(place);
  const std::string words = said.empty() ? "" : " (" + said + ")";
  if (exit_code == 127 || says(said, "command not found"))
    return "there is no program '" + place.program + "' on " + where +
           ": install triescope there, or say where it lies with --remote-program PATH" + words;
  if (exit_code == 126) return "'" + place.program + "' on " + where + " cannot be run" + words;
  if (says(said, "Permission denied"))
    return where + " lets nobody in without a key that it knows: `ssh " + where +
           "` must work without a question, with a key in ssh-agent or without a passphrase" +
           words;
  if (says(said, "Host key verification failed"))
    return where + " is not known yet, or is another machine than before: run `ssh " + where +
           "` once and look at the key" + words;
  if (says(said, "Could not resolve") || says(said, "No route") || says(said, "timed out") ||
      says(said, "Connection refused"))
    return where + " cannot be reached" + words;
  if (!said.empty()) return where + ": " + said;
  return exit_code <= 0 ? ""
                        : "the line to " + where + " ended with code " + std::to_string(exit_code);
}

Dial dial_to(RemotePlace place) {
  return [place = std::move(place)](const std::string& session) {
    try {
      return line_to_program(dial_command(place, session),
                             [place](int exit_code, const std::string& said) {
                               return explain_end(place, exit_code, said);
                             });
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kNotFound) throw;
      throw Error(ErrorCode::kIoError,
                  "there is no ssh on this machine: install the OpenSSH client (package "
                  "openssh-client), or name another command with --remote-command");
    }
  };
}

std::unique_ptr<RemoteHost> remote_host(const RemotePlace& place, std::function<void()> wake,
                                        std::uint64_t runs_before) {
  dial_command(place, place.attach);  // what is wrong with it is said at once
  return std::make_unique<RemoteHost>(RemoteSetup{.where = where_text(place),
                                                  .dial = dial_to(place),
                                                  .wake = std::move(wake),
                                                  .captures = cache_folder() / "remote",
                                                  .session = place.attach,
                                                  .runs_before = runs_before,
                                                  .version = TRIESCOPE_VERSION});
}

}  // namespace triescope::app
