// One factory per panel; panel.h says what a panel is.
#pragma once

#include <memory>

#include "viz/panels/panel.h"

namespace triescope::viz {

std::unique_ptr<Panel> make_trie_panel();
std::unique_ptr<Panel> make_mask_panel();
std::unique_ptr<Panel> make_positions_panel();
std::unique_ptr<Panel> make_kv_panel();
std::unique_ptr<Panel> make_memory_panel();
std::unique_ptr<Panel> make_verdict_panel();
std::unique_ptr<Panel> make_drafts_panel();
std::unique_ptr<Panel> make_acceptance_panel();
std::unique_ptr<Panel> make_what_if_panel();
std::unique_ptr<Panel> make_cost_panel();
std::unique_ptr<Panel> make_candidates_panel();
std::unique_ptr<Panel> make_experts_panel();
std::unique_ptr<Panel> make_text_panel();
std::unique_ptr<Panel> make_narration_panel();
std::unique_ptr<Panel> make_inspector_panel();
std::unique_ptr<Panel> make_summary_panel();
std::unique_ptr<Panel> make_timeline_panel();
std::unique_ptr<Panel> make_log_panel();
std::unique_ptr<Panel> make_doctor_panel();

}  // namespace triescope::viz
