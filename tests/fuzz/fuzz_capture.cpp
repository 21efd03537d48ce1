// A .tscap file: opened as the program opens it, then every question a panel asks of it, at a few
// cursors.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "core/capture/capture.h"
#include "core/capture/row_faults.h"
#include "tests/fuzz/fuzz.h"

using namespace triescope;

namespace {

// One file, in memory (tmpfs) where that can be had, rewritten for each input.
struct Scratch {
  std::string path;
  int fd = -1;
  Scratch() {
    for (const std::string& folder :
         {std::string("/dev/shm"), std::filesystem::temp_directory_path().string()}) {
      path = folder + "/triescope-fuzz-" + std::to_string(::getpid()) + ".tscap";
      fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      if (fd >= 0) return;
    }
    std::fprintf(stderr, "%s: %s\n", path.c_str(), std::strerror(errno));
    std::exit(1);
  }
  ~Scratch() {
    remove_companions();
    ::unlink(path.c_str());
    ::close(fd);
  }
  void remove_companions() const {
    for (const char* suffix : {"-wal", "-shm", "-journal"}) ::unlink((path + suffix).c_str());
  }
};

void ask_everything(capture::Capture& file) {
  file.poll();
  const auto nodes = static_cast<std::int32_t>(file.nodes().size());
  for (const capture::Tick cursor : {capture::Tick{0}, capture::Tick{7}, file.end_tick()}) {
    file.nodes_at(cursor);
    for (std::int32_t node = -3; node < std::min(nodes + 1, 40); ++node) {
      file.node_at(node, cursor);
      file.children(node);
      file.verdict_at(node, cursor);
      file.path_to(node);
    }
    for (const capture::StageRow& row : file.stages(0, capture::step_of(cursor), cursor))
      file.piece(row.token);
    for (const capture::Whose whose : file.owners()) {
      for (std::int32_t node = -3; node < std::min(nodes + 1, 40); ++node) {
        for (const capture::CandidateRow& candidate : file.candidates(node, cursor, whose))
          file.piece(candidate.token);
        file.slot_of(node, cursor, whose);
      }
      const std::int32_t slots = file.slot_count_at(cursor, whose);
      for (std::int32_t slot = -1; slot < std::min(slots + 1, 40); ++slot)
        file.slot_at(slot, cursor, whose);
    }
  }
  for (const std::int32_t step : {-1, 0, 1, file.last_step()}) {
    file.step(step);
    file.verdicts(step);
    file.frontier(step);
    file.experts(step);
    for (const capture::Whose whose : file.owners()) {
      file.slot_events(step, whose);
      file.memory(whose);
      int rows = 0;
      for (const capture::InputRow& input : file.inputs(step, whose)) {
        if (++rows > 20) break;
        file.inputs({input.step, input.forward}, whose);
        for (std::int32_t node = -4; node < std::min(nodes + 1, 20); ++node)
          file.visible(input, node);
      }
    }
  }
}

// What the doctor and the panels ask of rows that are not as the tree asks for.
void ask_faults(const capture::Capture& file) {
  const capture::RowFaults& faults = file.row_faults();
  for (const capture::Whose whose : file.owners()) {
    faults.sight_steps(whose);
    faults.slot_steps(whose);
    faults.position_steps(whose);
    for (const std::int32_t step : {0, 1, file.last_step()}) {
      for (const capture::RowSight& sight : faults.sights(step, whose))
        if (sight.seen) break;
      faults.slots(step, whose);
      int rows = 0;
      for (const capture::InputRow& input : file.inputs(step, whose)) {
        if (++rows > 20) break;
        faults.asked_slots(input);
        faults.positions(whose).asked(input);
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Scratch scratch;
  if (::ftruncate(scratch.fd, static_cast<off_t>(size)) != 0 ||
      ::pwrite(scratch.fd, data, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  fuzz::tolerate_refusal([&] {
    const auto file = capture::Capture::open(scratch.path);
    ask_everything(*file);
    ask_faults(*file);
  });
  scratch.remove_companions();
  return 0;
}
