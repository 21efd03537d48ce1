#include "core/capture/recorder_identity.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace triescope::capture {
namespace {

namespace fs = std::filesystem;

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::string pid_namespace() {
  std::error_code ec;
  return fs::read_symlink("/proc/self/ns/pid", ec).string();
}

// Field 22 of /proc/<pid>/stat, a number that a later process with the same pid does not have.
// Empty: no such process.
std::string start_time(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  const std::string stat = text.str();
  const std::size_t name_end = stat.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return {};
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return {};  // dead, not yet waited for
  for (int i = 4; i <= 22; ++i) fields >> field;
  return field;
}

bool written_lately(const std::string& path) {
  const auto now = fs::file_time_type::clock::now();
  for (const char* suffix : {"", "-wal"}) {
    std::error_code ec;
    const auto written = fs::last_write_time(path + suffix, ec);
    if (!ec && now - written < std::chrono::seconds(10)) return true;
  }
  return false;
}

std::string home() { return "boot=" + boot_id() + " pidns=" + pid_namespace() + " "; }

}  // namespace

std::string recorder_identity() {
  const std::string pid = std::to_string(::getpid());
  return home() + "pid=" + pid + " start=" + start_time(pid);
}

bool recorder_lives(const std::string& identity, const std::string& path) {
  const std::string here = home();
  if (!identity.starts_with(here)) return written_lately(path);
  const std::string rest = identity.substr(here.size());
  const std::size_t space = rest.find(' ');
  if (!rest.starts_with("pid=") || space == std::string::npos) return false;
  const std::string pid = rest.substr(4, space - 4);
  if (pid.empty() || pid.find_first_not_of("0123456789") != std::string::npos) return false;
  const std::string start = start_time(pid);
  return !start.empty() && rest.substr(space) == " start=" + start;
}

}  // namespace triescope::capture
