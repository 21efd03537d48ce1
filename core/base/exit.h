// How the process ends.
#pragma once

namespace triescope {

// Ends the process without the destructors of what was static before this call: those of libtorch's operators take a tenth of a
// second of a processor. What becomes static later is destroyed, and the standard streams are flushed. To be called first in
// main(). Under a sanitizer, which reports at an ordinary end, it changes nothing.
void skip_library_teardown();

}  // namespace triescope
