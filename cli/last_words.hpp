#pragma once

namespace hindsight::cli {

/// From now on the process ends with a message on standard error and status 1 where the system refuses memory, threads or files in a place
/// that cannot do without; nothing is unwound, for that would need what there is none of. Whoever started it starts it again, and the log
/// has every decision that was told to anybody: it is written in transactions. Any other exception that nobody catches is a bug, and aborts
/// after its message.
void install_last_words();

}  // namespace hindsight::cli
