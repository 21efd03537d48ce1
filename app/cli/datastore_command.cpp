// `triescope datastore`: builds the file from which REST drafts, and says what is in one.
#include <atomic>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>

#include "app/cli/commands.h"
#include "app/cli/terminal.h"
#include "app/session/catalog.h"
#include "core/base/bytes_text.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/base/text_file.h"
#include "core/base/thread_pool.h"
#include "core/base/unicode.h"
#include "core/lookup/datastore.h"
#include "core/lookup/documents.h"
#include "core/lookup/sort_suffixes.h"
#include "core/text/tokenizer/vocabulary_hash.h"

namespace triescope::app {
namespace {

struct DatastoreOptions {
  std::vector<std::string> files;
  std::string model, output, file;
  int threads = 0;
  bool as_json = false, check = false;
};

// A longer document is tokenised in pieces that end at a newline, by several threads at once.
constexpr std::size_t kPieceBytes = 1 << 20;

struct TextPiece {
  std::string_view text;
  bool ends_document = false;
};

std::vector<TextPiece> text_pieces(std::string_view text) {
  std::vector<TextPiece> pieces;
  while (!text.empty()) {
    std::string_view document = take_document(text);
    if (document.empty()) continue;
    while (document.size() > kPieceBytes) {
      std::size_t end = document.rfind('\n', kPieceBytes);
      if (end == std::string_view::npos) {
        end = kPieceBytes;
        while (end > 0 && (static_cast<unsigned char>(document[end]) & 0xC0) == 0x80) --end;
      } else {
        ++end;
      }
      pieces.push_back({document.substr(0, end), false});
      document.remove_prefix(end);
    }
    pieces.push_back({document, true});
  }
  return pieces;
}

void check_interrupt(const InterruptGuard& guard) {
  if (guard.interrupted()) throw Error(ErrorCode::kCancelled, "stopped; nothing was written");
}

// Appends the file's documents to `tokens`. `report` is called with the bytes that are done.
void tokenise(const std::string& path, const Tokenizer& tokenizer, ThreadPool& pool,
              const std::function<void(std::size_t)>& report, std::vector<std::int32_t>& tokens) {
  const std::string text = read_text_file(path, "a text file");
  if (const std::size_t at = invalid_utf8_offset(text); at != std::string::npos)
    throw Error(
        ErrorCode::kCorruption,
        path + ": expected UTF-8 text, found an invalid byte at offset " + std::to_string(at));
  const std::vector<TextPiece> pieces = text_pieces(text);
  std::vector<std::vector<std::int32_t>> of_piece(pieces.size());
  std::vector<std::exception_ptr> failed(static_cast<std::size_t>(pool.size()));
  std::atomic<std::size_t> done{0};
  std::atomic<bool> over{false};
  pool.for_tasks(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t task, int worker) {
    if (over) return;
    try {
      const auto i = static_cast<std::size_t>(task);
      of_piece[i] = tokenizer.encode(pieces[i].text, false);
      done += pieces[i].text.size();
      if (worker == 0) report(done);
    } catch (...) {
      failed[static_cast<std::size_t>(worker)] = std::current_exception();
      over = true;
    }
  });
  for (const std::exception_ptr& failure : failed)
    if (failure) std::rethrow_exception(failure);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    tokens.insert(tokens.end(), of_piece[i].begin(), of_piece[i].end());
    if (pieces[i].ends_document) tokens.push_back(kEndOfDocument);
  }
  if (tokens.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw Error(ErrorCode::kNotSupported,
                "datastore: expected fewer than 2^31 tokens in all, found more by \"" + path +
                    "\". Build two, or take fewer files");
}

std::string in_words(const std::string& path, const DatastoreInfo& info) {
  return path + ": " + counted(static_cast<std::int64_t>(info.documents), "document") + ", " +
         counted(static_cast<std::int64_t>(info.tokens - info.documents), "token") + ", " +
         bytes_text(static_cast<double>(info.file_bytes));
}

int run_build(const DatastoreOptions& options, bool quiet) {
  const InterruptGuard guard([] {});
  const auto tokenizer = load_tokenizer(resolve_model(options.model));
  ThreadPool pool(options.threads);
  const ProgressSink progress = terminal_progress(quiet);
  // Tokenising takes about as long as sorting; the bar's halves.
  const auto show = [&](double half, double share) {
    check_interrupt(guard);
    if (progress) progress("datastore", 50 * half + 50 * share, 100);
  };
  std::uintmax_t total = 0, before = 0;
  for (const std::string& file : options.files) {
    std::error_code error;
    if (const auto size = std::filesystem::file_size(file, error); !error) total += size;
  }
  std::vector<std::int32_t> tokens;
  for (const std::string& file : options.files) {
    std::size_t of_file = 0;
    tokenise(
        file, *tokenizer, pool,
        [&](std::size_t bytes) {
          of_file = bytes;
          show(0, total > 0 ? static_cast<double>(before + bytes) / static_cast<double>(total) : 0);
        },
        tokens);
    std::error_code error;
    if (const auto size = std::filesystem::file_size(file, error); !error) before += size;
  }
  std::vector<std::int32_t> order(tokens.size());
  sort_suffixes(tokens, kEndOfDocument, SuffixArray::kSortedTokens, order, pool,
                [&](double share) { show(1, share); });
  check_interrupt(guard);
  Datastore::write(options.output, tokens, order, tokenizer->vocab_size(),
                   vocabulary_hash(*tokenizer));
  clear_progress();
  if (!quiet) std::cerr << in_words(options.output, Datastore(options.output).info()) << "\n";
  return 0;
}

int run_info(const DatastoreOptions& options) {
  const Datastore store(options.file);
  if (options.check) store.check();
  const DatastoreInfo& info = store.info();
  bool fits = true;
  if (!options.model.empty())
    fits = vocabulary_hash(*load_tokenizer(resolve_model(options.model))) == info.vocabulary_hash;
  if (options.as_json) {
    nlohmann::json json = {{"path", options.file},
                           {"documents", info.documents},
                           {"tokens", info.tokens - info.documents},
                           {"vocab_size", info.vocab_size},
                           {"file_bytes", info.file_bytes}};
    if (options.check) json["checked"] = true;
    if (!options.model.empty()) json["fits_model"] = fits;
    std::cout << dump_json(json) << "\n";
    return 0;
  }
  std::cout << in_words(options.file, info) << ", a vocabulary of " << info.vocab_size << " ids\n";
  if (options.check) std::cout << "tokens and order are whole\n";
  if (!options.model.empty())
    std::cout << (fits ? "made with this model's tokenizer\n"
                       : "made with another model's tokenizer\n");
  return 0;
}

}  // namespace

void add_datastore_command(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<DatastoreOptions>();
  CLI::App* datastore = root.add_subcommand("datastore", "files from which REST drafts");
  datastore->require_subcommand(1);
  CLI::App* build = datastore->add_subcommand("build", "builds one from text files");
  build
      ->add_option("FILES", options->files,
                   "UTF-8 text files; a line <|endoftext|> separates documents")
      ->required()
      ->check(file_name());
  build->add_option("--model", options->model, "whose tokenizer makes the tokens (as for decode)");
  build->add_option("-o,--output", options->output, "the datastore to write")
      ->required()
      ->check(file_name());
  build->add_option("--threads", options->threads, "CPU threads, 0 = all cores")
      ->check(CLI::Range(0, 1024));
  build->callback(
      [=, &line] { line.action = [options, &line] { return run_build(*options, line.quiet); }; });
  CLI::App* info = datastore->add_subcommand("info", "what is in one");
  info->add_option("FILE", options->file, "a datastore")->required()->check(file_name());
  info->add_option("--model", options->model,
                   "says whether it was made with this model's tokenizer");
  info->add_flag("--check", options->check, "reads all of it and finds damage");
  info->add_flag("--json", options->as_json, "as JSON");
  info->callback([=, &line] { line.action = [options] { return run_info(*options); }; });
}

}  // namespace triescope::app
