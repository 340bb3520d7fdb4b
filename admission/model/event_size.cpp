#include "admission/model/event_size.hpp"

#include <cstdint>

#include "admission/model/event_parts.hpp"

namespace hindsight::admission {
namespace {

/// What FlatBuffers needs beside the bytes of the texts: lengths, ends, offsets, places in the vtable, and padding between all of them.
constexpr std::size_t around_a_text = 16, a_number = 10, around_a_list = 16, around_a_part = 24;

class Scale {
 public:
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  void value(Text x) {
    if (!x.empty()) bytes_ += x.size() + around_a_text;
  }
  template <class N>
  void value(const N& /*x*/) {
    bytes_ += a_number;
  }
  void list(std::uint64_t /*length*/) { bytes_ += around_a_list; }
  void part() { bytes_ += around_a_part; }

 private:
  std::size_t bytes_ = around_a_part;  // its place in the list of events
};

}  // namespace

std::size_t event_bytes(const Event& event) {
  Scale scale;
  EventParts(scale).walk(event);
  return scale.bytes();
}

}  // namespace hindsight::admission
