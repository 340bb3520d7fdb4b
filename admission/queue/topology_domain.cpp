#include "admission/queue/topology_domain.hpp"

#include <utility>

namespace hindsight::admission {

void TopologyDomain::receive(Message& message, const Context&, Outbox& out) {
  auto* m = std::get_if<msg::CountLeaves>(&message.payload);
  if (m == nullptr) refuse(message, "TopologyDomain");
  for (const auto& question : *m->questions) question->count(self_.index);
  out.send(self_, message.from, msg::LeavesCounted{});
}

}  // namespace hindsight::admission
