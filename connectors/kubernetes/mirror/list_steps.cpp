#include "connectors/kubernetes/mirror/list_steps.hpp"

#include <algorithm>

namespace hindsight::connectors::kubernetes {
namespace {

bool may_be_too_much(const HttpAnswer& answer) {
  using Failure = HttpAnswer::Failure;
  return answer.failure == Failure::too_large || answer.failure == Failure::timeout || answer.status == 504;
}

/// The server has too much to do, and says nothing about the page: it may be asked for as long as its token lives.
bool asks_for_a_pause(const HttpAnswer& answer) { return answer.status == 429 || (answer.status == 503 && answer.retry_after_seconds > 0); }

/// What a pause can mend. In the midst of a list that was granted 401 and 403 may be the words of a server that has just started.
bool may_pass(const HttpAnswer& answer, bool is_first) {
  return answer.status == 0 || answer.status == 429 || answer.status >= 500 ||
         (!is_first && (answer.status == 401 || answer.status == 403));
}

}  // namespace

ListSteps::Step ListSteps::failed(const HttpAnswer& answer, bool is_first) {
  if (answer.status == 410) {
    tries_ = 0;
    ask_for_more();
    return Step::anew;
  }
  if (!may_pass(answer, is_first)) {
    tries_ = 0;
    return Step::stop;
  }
  if (may_be_too_much(answer) && size_ > 1) {
    size_ /= 2;
    was_halved_ = true;
  }
  if (is_first) return Step::anew;  // Which is the same.
  if (asks_for_a_pause(answer) || ++tries_ < tries_of_page_max) return Step::again;
  tries_ = 0;
  return Step::anew;
}

/// Where larger pages could not be had before, the same size is tried again: the server may be faster now.
void ListSteps::ask_for_more() {
  if (!was_halved_) size_ = std::min(std::max(size_max, first_size_), size_ * 2);
  was_halved_ = false;
}

std::string ListSteps::endless(std::size_t new_objects) {
  ++pages_;
  idle_pages_ = new_objects > 0 ? 0 : idle_pages_ + 1;
  if (idle_pages_ > idle_pages_max) {
    return "found " + std::to_string(idle_pages_) + " pages in a row with no object that stood on none before, and a token for more; " +
           "allowed: at most " + std::to_string(idle_pages_max);
  }
  if (pages_ < pages_max) return {};
  ask_for_more();
  return "found " + std::to_string(pages_) + " pages, and a token for more; allowed: at most " + std::to_string(pages_max);
}

void ListSteps::complete() {
  tries_ = 0;
  // What one bad minute taught need not hold for ever.
  size_ = was_halved_ ? std::min(first_size_, size_ * 2) : first_size_;
  was_halved_ = false;
}

}  // namespace hindsight::connectors::kubernetes
