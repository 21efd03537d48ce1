// The fields of the session's types, and the ranges of its enumerations, as they travel between two
// machines (fields.h).
#pragma once

#include "app/remote/fields.h"
#include "app/session/breakpoints.h"
#include "app/session/catalog.h"
#include "app/session/live_status.h"
#include "app/session/prompt_count.h"
#include "app/session/request.h"
#include "app/session/what_fits.h"
#include "core/model/model.h"

namespace triescope::app {

template <>
inline constexpr DType kLastCode<DType> = DType::kF16;
template <>
inline constexpr capture::Level kLastCode<capture::Level> = capture::Level::kFull;
template <>
inline constexpr LiveState kLastCode<LiveState> = LiveState::kDone;
template <>
inline constexpr LogLevel kLastCode<LogLevel> = LogLevel::kError;
template <>
inline constexpr BreakKind kLastCode<BreakKind> = BreakKind::kWhere;
template <>
inline constexpr ErrorCode kLastCode<ErrorCode> = ErrorCode::kCancelled;

template <class Visit>
void visit_fields(Visit& visit, ChatMessage& m) {
  visit("role", m.role), visit("content", m.content), visit("more", m.more);
}

template <class Visit>
void visit_fields(Visit& visit, Conversation& m) {
  visit("messages", m.messages), visit("tools", m.tools);
  visit("chat_template", m.chat_template), visit("template_source", m.template_source);
}

template <class Visit>
void visit_fields(Visit& visit, CatalogEntry& m) {
  visit("name", m.name), visit("path", m.path), visit("note", m.note);
}

template <class Visit>
void visit_fields(Visit& visit, RunMemory& m) {
  visit("to_load", m.to_load), visit("kv", m.kv), visit("free", m.free);
  visit("problem", m.problem);
}

template <class Visit>
void visit_fields(Visit& visit, ModelFit& m) {
  visit("name", m.name), visit("path", m.path), visit("need", m.need);
  visit("problem", m.problem);
}

template <class Visit>
void visit_fields(Visit& visit, WhatFits& m) {
  visit("free", m.free), visit("models", m.models);
}

template <class Visit>
void visit_fields(Visit& visit, PromptCount& m) {
  visit("tokens", m.tokens), visit("problem", m.problem), visit("model", m.model);
  visit("context", m.context), visit("unread", m.unread);
}

template <class Visit>
void visit_fields(Visit& visit, DeviceInfo& m) {
  visit("id", m.id), visit("name", m.name), visit("total_bytes", m.total_bytes);
}

template <class Visit>
void visit_fields(Visit& visit, Breakpoint& m) {
  visit("kind", m.kind), visit("threshold", m.threshold), visit("enabled", m.enabled);
  visit("text", m.text);
}

template <class Visit>
void visit_fields(Visit& visit, Notice& m) {
  visit("serial", m.serial), visit("level", m.level), visit("text", m.text);
}

template <class Visit>
void visit_fields(Visit& visit, RunRequest& m) {
  visit("model", m.model), visit("draft_model", m.draft_model), visit("device", m.device);
  visit("draft_device", m.draft_device), visit("dtype", m.dtype), visit("kv_dtype", m.kv_dtype);
  visit("method", m.method), visit("settings", m.settings), visit("prompt", m.prompt);
  visit("prompt_ids", m.prompt_ids), visit("prompt_is_ids", m.prompt_is_ids);
  visit("chat", m.chat), visit("system", m.system), visit("turns", m.turns);
  visit("tools", m.tools), visit("chat_template", m.chat_template);
  visit("chat_template_file", m.chat_template_file);
  visit("max_new_tokens", m.max_new_tokens), visit("seed", m.seed);
}

template <class Visit>
void visit_fields(Visit& visit, GenerationSettings& m) {
  visit("settings", m.settings), visit("not_done", m.not_done);
}

template <class Visit>
void visit_fields(Visit& visit, RowCosts& m) {
  visit("cheap_rows", m.cheap_rows), visit("second_row", m.second_row);
  visit("cheap_row", m.cheap_row), visit("dear_row", m.dear_row);
  visit("of_experts", m.of_experts), visit("chosen", m.chosen);
}

template <class Visit>
void visit_fields(Visit& visit, ModelInfo& m) {
  visit("name", m.name), visit("path", m.path), visit("family", m.family);
  visit("format", m.format), visit("quantisation", m.quantisation);
  visit("parameters", m.parameters), visit("file_bytes", m.file_bytes);
  visit("block_parameters", m.block_parameters), visit("block_bytes", m.block_bytes);
  visit("widened_parameters", m.widened_parameters), visit("widened_bytes", m.widened_bytes);
  visit("layers", m.layers), visit("hidden", m.hidden), visit("heads", m.heads);
  visit("kv_heads", m.kv_heads), visit("head_dim", m.head_dim);
  visit("kv_values", m.kv_values), visit("widest_head", m.widest_head);
  visit("intermediate", m.intermediate), visit("vocab_size", m.vocab_size);
  visit("experts", m.experts), visit("experts_used", m.experts_used);
  visit("active_parameters", m.active_parameters), visit("active_bytes", m.active_bytes);
  visit("expert_bytes", m.expert_bytes);
  visit("context", m.context), visit("sliding_window", m.sliding_window);
  visit("kv_window", m.kv_window), visit("kv_valid_until", m.kv_valid_until);
  visit("tied_embeddings", m.tied_embeddings), visit("rope_theta", m.rope_theta);
  visit("tokenizer", m.tokenizer), visit("eos_token_ids", m.eos_token_ids);
  visit("bos_token_id", m.bos_token_id), visit("generation", m.generation);
  visit("dtype", m.dtype), visit("kv_dtype", m.kv_dtype), visit("device", m.device);
  visit("warning", m.warning), visit("notes", m.notes), visit("row_costs", m.row_costs);
  visit("path_only_rows", m.path_only_rows), visit("prefill_rows", m.prefill_rows);
}

}  // namespace triescope::app
