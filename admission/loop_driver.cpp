#include "admission/loop_driver.hpp"

namespace hindsight::admission {

Result<void> LoopDriver::apply(const RecordView& record) {
  Outbox out;
  if (auto ok = entities_.domain().begin(record, out); !ok) return ok;
  entities_.deliver_all(out, true, order_);
  entities_.domain().end();
  return {};
}

std::optional<Domain::Step> LoopDriver::decide() {
  Outbox out;
  while (entities_.domain().start_deciding(out)) {
    entities_.deliver_all(out, false, order_);
    auto step = entities_.domain().take_decisions();
    if (!step.events.empty()) return step;
  }
  return std::nullopt;
}

}  // namespace hindsight::admission
