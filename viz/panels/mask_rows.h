// MaskRows: rows and columns of the shown step's mask: its forward's inputs, and the nodes that
// hold KV while it runs. Cells are as recorded, where that is known.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/row_faults.h"
#include "viz/draw/scene.h"
#include "viz/panels/row_source.h"

namespace triescope::viz {

enum class MaskCell : std::uint8_t {
  kHidden = 0,
  kAncestor,
  kSelf,
  kExtra,    // seen, although the tree does not ask for it
  kMissing,  // not seen, although the tree asks for it
};

struct MaskRows {
  static constexpr std::int32_t kUnwritten = -1;  // the column of slots that nothing was written to

  // The prompt's own rows are among them if they are not as the tree asks.
  std::vector<capture::InputRow> rows;
  std::vector<std::int32_t>
      columns;  // nodes: behind their ancestors, or in the order of their slots
  // In a steady scene, the number of nodes that every row sees. They are no columns: like the
  // prompt they look the same in every row, and the other nodes need the room for their tokens.
  std::int32_t shared = 0;
  std::vector<std::vector<capture::SightFault>> faults;  // by row
  std::size_t fault_count = 0;

  // Gathers rows and columns again if the cursor, the order or the capture changed. False: the step
  // has no inputs in the tree (prefill, or its forward is still to come). scene.capture must not be
  // null.
  bool update(const RowSource& source, const Scene& scene, bool slot_order);

  // A row's cells are made when first asked for.
  MaskCell cell(std::size_t row, std::size_t column) const {
    if (cells_[row].size() != columns.size()) make_cells(row);
    return cells_[row][column];
  }

  // A row's part of the prompt, in stretches of tokens first..last that look alike.
  struct Stretch {
    std::int32_t first = 0, last = 0;
    MaskCell cell = MaskCell::kHidden;
  };
  std::span<const Stretch> prompt(std::size_t row) const { return prompt_[row]; }

 private:
  // The inputs that they were gathered from.
  struct Key {
    const capture::Capture* capture = nullptr;
    RowSource source;
    capture::Tick cursor = -1;
    std::int64_t slots = -1;
    bool slot_order = false;
    bool operator==(const Key&) const = default;
  };
  void gather_rows(const RowSource& source, const Scene& scene);
  void gather_columns(const RowSource& source, const Scene& scene, bool slot_order);
  void number_columns();
  void make_cells(std::size_t row) const;
  void fill_prompt(const capture::Capture& capture);
  void share_columns();

  Key key_;
  mutable std::vector<std::vector<MaskCell>> cells_;  // by row
  mutable std::size_t cell_count_ = 0;                // of the rows that are made
  std::vector<std::int32_t> column_of_;               // by node; -1 = none
  std::vector<std::vector<Stretch>> prompt_;
};

// One line per row of the mask, below a header line, with the nodes that it sees. A capture that says what rows
// attended to also gives those slots (`seen`) and the ones that the tree asks for (`expected`).
std::string mask_csv(const RowSource& source, const Scene& scene, bool slot_order);

}  // namespace triescope::viz
