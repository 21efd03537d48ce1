#include "app/cli/bench_plots.h"

#include <cstdio>
#include <filesystem>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/session/session.h"
#include "viz/export/export_picture.h"
#include "viz/export/file_ending.h"

namespace triescope::app {

void write_bench_plots(const std::vector<std::unique_ptr<viz::Panel>>& plots,
                       const std::string& folder, const std::string& model,
                       const std::string& prompts, bool quiet) {
  namespace fs = std::filesystem;
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec)
    throw Error(ErrorCode::kIoError, folder + ": the folder of the plots cannot be made (" +
                                         ec.message() + "); name another with --plots");
  for (const std::unique_ptr<viz::Panel>& plot : plots) {
    const viz::Facts facts = {{"Title", plot->info().title},
                              {"Model", fs::path(model).filename().string()},
                              {"Prompts", prompts},
                              {"Software", "triescope " TRIESCOPE_VERSION}};
    for (const auto format :
         {viz::ExportFormat::kSvg, viz::ExportFormat::kPdf, viz::ExportFormat::kCsv}) {
      const std::string file = plot->info().name + "." + std::string(viz::name_of(format));
      viz::ExportOptions options;
      options.format = format;
      viz::export_picture(*plot, facts, "", (fs::path(folder) / file).string(), options);
    }
  }
  if (!quiet)
    std::fprintf(stderr, "%s in %s, as SVG, PDF and CSV\n", counted(plots.size(), "plot").c_str(),
                 folder.c_str());
}

}  // namespace triescope::app
