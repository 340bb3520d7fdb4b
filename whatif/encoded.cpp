#include "whatif/encoded.hpp"

#include "events/record.hpp"

namespace hindsight::whatif {

std::vector<std::byte> encoded(const Observation& o) {
  RecordView r;
  r.envelope.domain = "what-if";
  r.envelope.sequence = 1;
  r.body = o;
  return events::encode(r);
}

}  // namespace hindsight::whatif
