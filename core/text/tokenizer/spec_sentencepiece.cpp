// TokenizerSpec from a tokenizer.model: SentencePiece's protobuf, of type unigram or BPE. Source:
// sentencepiece/src/sentencepiece_model.proto, model_interface.cc.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/unicode.h"
#include "core/files/input_file.h"
#include "core/files/protobuf.h"
#include "core/text/tokenizer/score_merges.h"
#include "core/text/tokenizer/spec_json.h"

namespace triescope::tokenizer {
namespace {

using formats::ProtobufReader;

constexpr std::size_t kMaxPieces = 2'000'000;

// The numbers that the file's enumerations have.
enum PieceType {
  kNormalPiece = 1,
  kUnknownPiece = 2,
  kControlPiece = 3,
  kUserDefinedPiece = 4,
  kUnusedPiece = 5,
  kBytePiece = 6
};
enum ModelType { kUnigramType = 1, kBpeType = 2 };

struct Piece {
  std::string text;
  float score = 0;
  std::int64_t type = kNormalPiece;
};

struct ModelFile {
  std::vector<Piece> pieces;
  std::int64_t type = kUnigramType;
  bool byte_fallback = false;
  SentencePieceSpaces spaces;
  std::string charsmap;
  std::string unk = "<unk>", bos = "<s>", eos = "</s>", pad = "<pad>";
};

Piece read_piece(const std::string& file, std::string_view message, std::size_t place) {
  const std::string name = file + ": piece " + std::to_string(place);
  Piece piece;
  for (ProtobufReader fields(message, name); fields.next();) {
    if (fields.field() == 1) piece.text = fields.bytes();
    if (fields.field() == 2) piece.score = fields.number();
    if (fields.field() == 3) piece.type = fields.integer();
  }
  if (piece.text.empty() || invalid_utf8_offset(piece.text) != std::string_view::npos)
    corrupt(name, "expected a text in UTF-8, found " +
                      std::string(piece.text.empty() ? "none" : "other bytes"));
  check_length(name, piece.text);
  if (!std::isfinite(piece.score)) corrupt(name, "expected a finite score, found another");
  if (piece.type < kNormalPiece || piece.type > kBytePiece)
    corrupt(name, "expected a type from 1 to 6, found " + std::to_string(piece.type));
  return piece;
}

void read_trainer(const std::string& file, std::string_view message, ModelFile& found) {
  for (ProtobufReader fields(message, file + ": trainer_spec"); fields.next();)
    switch (fields.field()) {
      case 3:
        found.type = fields.integer();
        break;
      case 24:
        found.spaces.as_suffix = fields.integer() != 0;
        break;
      case 35:
        found.byte_fallback = fields.integer() != 0;
        break;
      case 45:
        found.unk = fields.bytes();
        break;
      case 46:
        found.bos = fields.bytes();
        break;
      case 47:
        found.eos = fields.bytes();
        break;
      case 48:
        found.pad = fields.bytes();
        break;
      default:
        break;
    }
}

void read_normalizer_spec(const std::string& file, std::string_view message, ModelFile& found) {
  for (ProtobufReader fields(message, file + ": normalizer_spec"); fields.next();)
    switch (fields.field()) {
      case 2:
        found.charsmap = fields.bytes();
        break;
      case 3:
        found.spaces.dummy_prefix = fields.integer() != 0;
        break;
      case 4:
        found.spaces.remove_extra = fields.integer() != 0;
        break;
      case 5:
        found.spaces.escape = fields.integer() != 0;
        break;
      default:
        break;
    }
}

ModelFile read_model_file(std::string_view bytes, const std::string& file) {
  ModelFile found;
  for (ProtobufReader fields(bytes, file); fields.next();) {
    if (fields.field() == 1) {
      if (found.pieces.size() >= kMaxPieces)
        corrupt(file, "expected at most " + std::to_string(kMaxPieces) + " pieces, found more");
      found.pieces.push_back(read_piece(file, fields.bytes(), found.pieces.size()));
    }
    if (fields.field() == 2) read_trainer(file, fields.bytes(), found);
    if (fields.field() == 3) read_normalizer_spec(file, fields.bytes(), found);
    if (fields.field() == 5)
      for (ProtobufReader rules(fields.bytes(), file + ": denormalizer_spec"); rules.next();)
        if (rules.field() == 2 && !rules.bytes().empty())
          unsupported(file, "a SentencePiece model that changes characters when it decodes");
  }
  if (found.pieces.empty()) corrupt(file, "expected a SentencePiece model, found no pieces in it");
  return found;
}

// Tokens, with what their types say.
void take_pieces(const std::string& file, const ModelFile& found, TokenizerSpec& spec) {
  TokenIds ids;
  for (const Piece& piece : found.pieces) {
    const auto id = static_cast<std::int32_t>(spec.vocab.size());
    if (!ids.emplace(piece.text, id).second)
      corrupt(file, "piece " + std::to_string(id) + ": expected a text of its own, found '" +
                        piece.text + "' again");
    spec.vocab.push_back(piece.text);
    spec.scores.push_back(piece.score);
    spec.hidden.push_back(piece.type != kNormalPiece && piece.type != kUserDefinedPiece);
    if (piece.type == kUnknownPiece && spec.unk_id >= 0)
      corrupt(file, "expected one unknown piece, found two: '" +
                        spec.vocab[static_cast<std::size_t>(spec.unk_id)] + "' and '" + piece.text +
                        "'");
    if (piece.type == kUnknownPiece) spec.unk_id = id;
    AddedToken added;
    added.content = piece.text;
    added.id = id;
    if (piece.type == kControlPiece || piece.type == kUnknownPiece) {
      added.special = true;
      spec.added.push_back(added);
    }
    if (piece.type != kUserDefinedPiece) continue;
    spec.user_defined.push_back(id);
    // Unigram knows them by their scores.
    added.normalized = true;
    if (spec.model == ModelKind::kBpe) spec.added.push_back(added);
  }
  if (spec.unk_id < 0) corrupt(file, "expected an unknown piece, found none");
  for (const auto& [name, text] : {std::pair("bos_token", &found.bos),
                                   {"eos_token", &found.eos},
                                   {"unk_token", &found.unk},
                                   {"pad_token", &found.pad}})
    if (ids.contains(*text)) spec.special_texts.emplace_back(name, *text);
  const auto id_of = [&](const std::string& text) {
    const auto at = ids.find(text);
    return at == ids.end() ? -1 : at->second;
  };
  spec.bos_id = id_of(found.bos);
  if (id_of(found.eos) >= 0) spec.eos_ids = {id_of(found.eos)};
}

void take_merges(const std::string& file, const ModelFile& found, TokenizerSpec& spec) {
  TokenIds ids;
  std::vector<float> scores;
  for (const Piece& piece : found.pieces) {
    if (piece.type == kUnusedPiece) unsupported(file, "a BPE model with unused pieces");
    if (piece.type == kNormalPiece)
      ids.emplace(piece.text, static_cast<std::int32_t>(scores.size()));
    scores.push_back(piece.score);
  }
  merges_from_scores(file, scores, ids, spec, /*ranks_by_score=*/true);
}

}  // namespace

TokenizerSpec spec_from_sentencepiece_file(const std::string& path) {
  return spec_from_sentencepiece(formats::InputFile(path).text(kMaxTokenizerBytes), path);
}

TokenizerSpec spec_from_sentencepiece(std::string_view bytes, const std::string& file) {
  const ModelFile found = read_model_file(bytes, file);
  if (found.type != kUnigramType && found.type != kBpeType)
    unsupported(file, "a SentencePiece model of type " + std::to_string(found.type) +
                          " (1, unigram, and 2, BPE, are)");
  TokenizerSpec spec;
  spec.source = file;
  spec.sentencepiece = true;
  spec.model = found.type == kBpeType ? ModelKind::kBpe : ModelKind::kUnigram;
  spec.byte_fallback = found.byte_fallback;
  spec.fuse_unk = true;
  take_pieces(file, found, spec);
  if (spec.model == ModelKind::kBpe) take_merges(file, found, spec);
  NormalizerStep step;
  step.kind = NormalizerStep::Kind::kSentencePiece;
  step.content = found.charsmap;
  step.spaces = found.spaces;
  for (const std::int32_t id : spec.user_defined)
    step.spaces.verbatim.push_back(spec.vocab[static_cast<std::size_t>(id)]);
  spec.normalizer.push_back(step);
  using D = DecoderStep::Kind;
  spec.decoder = {
      {D::kReplace, "\xE2\x96\x81", " "}, {D::kByteFallback, "", ""}, {D::kFuse, "", ""}};
  // Where it removes extra spaces, a text begins with none; else the dummy prefix goes.
  constexpr int kAll = 1 << 20;
  const int spaces = found.spaces.remove_extra ? kAll : found.spaces.dummy_prefix ? 1 : 0;
  if (spaces > 0) spec.decoder.push_back({D::kStrip, "", " ", spaces, 0});
  spec.description =
      "SentencePiece " + model_name(spec) + ", " + std::to_string(spec.vocab.size()) + " tokens";
  return spec;
}

}  // namespace triescope::tokenizer
