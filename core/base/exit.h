// How the process ends.
#pragma once

namespace triescope {

// Lets the process end without the destructors of the static objects that exist at this call: those of libtorch's operators take
// a tenth of a second of a processor. Objects that become static later are destroyed, and the standard streams are flushed. Call
// it first in main(). Under a sanitizer, which reports at an ordinary end, it changes nothing.
void skip_library_teardown();

}  // namespace triescope
