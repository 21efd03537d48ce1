// Verbs about files: captures that are opened, exports, what tests read.
#include "app/window/script_verb_table.h"
#include "core/base/counted.h"

namespace triescope::app {
namespace {

void export_one_panel(const VerbCall& call) {
  Workspace& workspace = call.workspace;
  const std::vector<std::string>& args = call.args;
  ExportJob job{args[0], args[2], viz::ExportFormat::kPng, workspace.theme()};
  if (args[1] == "gif")
    job.animation = Animation::kGif;
  else if (args[1] == "png-frames")
    job.animation = Animation::kPngFrames;
  else
    job.format = viz::export_format_from_string(args[1]);
  if (args.size() > 3) job.part = viz::export_part_from_string(args[3]);
  if (job.part == viz::ExportPart::kSeen)
    job.seen = call.host.ui.seen(job.panel, workspace, job.both);
  workspace.exports.start(job);
}

// The open capture that the call names by its index.
Document& named_document(const VerbCall& call) {
  const auto& all = call.workspace.documents.all();
  const auto index = static_cast<std::size_t>(script_number(call.args[0]));
  if (index >= all.size())
    refuse_verb("expected the index of an open capture, from 0; found " + call.args[0] + " (" +
                counted(all.size(), "capture") + " open)");
  return *all[index];
}

void compare_with(const VerbCall& call) {
  Document& chosen = named_document(call);
  if (&chosen == call.workspace.active())
    refuse_verb("compare: capture " + call.args[0] + " is the active one; name another");
  call.workspace.comparison.start(&chosen);
}

}  // namespace

std::span<const Verb> file_verbs() {
  using Call = const VerbCall&;
  static constexpr Verb kVerbs[] = {
      {"open-file", "PATH", 1, [](Call call) { call.workspace.open_path(call.argument); }},
      {"save-file", "PATH", 1, [](Call call) { call.workspace.documents.save_as(call.argument); }},
      {"export-panel", "PANEL svg|pdf|png|csv|gif|png-frames PATH [whole|step|seen]", 3,
       export_one_panel},
      {"export-handout", "PATH", 1,
       [](Call call) {
         call.workspace.exports.start_whole_run(WholeRun::kHandout, call.argument);
       }},
      {"export-data", "PATH", 1,
       [](Call call) { call.workspace.exports.start_whole_run(WholeRun::kData, call.argument); }},
      {"document", "N", 1,
       [](Call call) { call.workspace.documents.activate(&named_document(call)); }},
      {"compare", "N", 1, compare_with},
      {"screenshot", "FILE.png", 1, [](Call call) { call.host.screenshot(call.argument); }},
      {"write-state", "FILE.json", 1, [](Call call) { call.host.write_state(call.argument); }},
  };
  return kVerbs;
}

}  // namespace triescope::app
