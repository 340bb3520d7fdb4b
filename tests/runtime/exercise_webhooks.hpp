#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hindsight::test {

/// Any bytes, posted to a path of the webhooks as `hindsight run --webhooks` serves them, over a real socket. The first byte says to which
/// path. Throws std::logic_error unless the answer is a verdict, or status 400 or 413.
void exercise_webhooks(std::string_view bytes);

/// Reviews of all kinds, from seeds, with texts beyond every limit among them; each with the first byte for its path.
[[nodiscard]] std::vector<std::string> review_corpus();

}  // namespace hindsight::test
