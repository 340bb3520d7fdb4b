#include <array>
#include <cstring>

#include "events/decision_fields.hpp"
#include "events/record.hpp"
#include "schemas/envelope_generated.h"

namespace hindsight::events {
namespace {

using Offset = flatbuffers::uoffset_t;  // of a string, vector or table in the builder; 0: none

flatbuffers::voffset_t slot(std::size_t id) { return flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(id)); }

template <class M>
constexpr bool is_optional = false;
template <class N>
constexpr bool is_optional<std::optional<N>> = true;

/// Bytes of a member inside its table: members of equal size stand together, so that little is lost to alignment.
template <class M>
constexpr std::size_t wire_size() {
  if constexpr (std::is_arithmetic_v<M> || std::is_enum_v<M>) {
    return sizeof(M);
  } else if constexpr (std::is_same_v<M, Time>) {
    return 8;
  } else if constexpr (is_optional<M>) {
    return sizeof(typename M::value_type);
  } else {
    return sizeof(Offset);
  }
}

}  // namespace

class Encoder::Writer {
 public:
  Writer() : builder_(4096) {}

  std::span<const std::byte> write(const RecordView& record) {
    builder_.Clear();
    ++generation_;
    const Offset domain = string(record.envelope.domain);
    wire::Body tag = wire::Body::NONE;
    const Offset body = std::visit([&](const auto& b) { return write_body(b, tag); }, record.body);

    wire::EnvelopeBuilder out(builder_);
    out.add_sequence(record.envelope.sequence);
    out.add_epoch(record.envelope.epoch);
    out.add_time(record.envelope.time.micros);
    out.add_cause(record.envelope.cause);
    out.add_domain(domain);
    out.add_schema_version(schema_version);
    out.add_body(body);
    out.add_body_type(tag);
    wire::FinishEnvelopeBuffer(builder_, out.Finish());
    return std::as_bytes(std::span(builder_.GetBufferPointer(), builder_.GetSize()));
  }

 private:
  Offset write_body(const Observation& observation, wire::Body& tag) {
    return std::visit(
        [&]<class T>(const T& o) {
          tag = wire::BodyTraits<typename Fields<T>::Wire>::enum_value;
          return table(o);
        },
        observation);
  }

  Offset write_body(const EpochStarted& started, wire::Body& tag) {
    tag = wire::Body::EpochStarted;
    return table(started);
  }

  Offset write_body(const Decisions& decisions, wire::Body& tag) {
    tag = wire::Body::Decisions;
    const Offset events = write_events(decisions.events);
    wire::DecisionsBuilder out(builder_);
    out.add_base(decisions.base);
    out.add_events(events);
    out.add_step(static_cast<wire::StepKind>(decisions.step));
    return out.Finish().o;
  }

  Offset write_body(const DecisionsNoted& noted, wire::Body& tag) {
    tag = wire::Body::DecisionsNoted;
    const Offset events = write_events(noted.events);
    const Offset withdrawn = child(noted.withdrawn);
    const Offset would_not = child(noted.would_not);
    wire::DecisionsNotedBuilder out(builder_);
    out.add_base(noted.base);
    out.add_withdrawn(withdrawn);
    out.add_would_not(would_not);
    out.add_events(events);
    out.add_rules(noted.rules);
    return out.Finish().o;
  }

  Offset write_events(List<Event> list) {
    const std::size_t base = scratch_.size();
    for (const Event& event : list) {
      wire::Event event_tag = wire::Event::NONE;
      const Offset body = std::visit(
          [&]<class T>(const T& e) {
            event_tag = wire::EventTraits<typename Fields<T>::Wire>::enum_value;
            return table(e);
          },
          event);
      scratch_.push_back(wire::CreateDecision(builder_, event_tag, body).o);
    }
    return vector_since(base);
  }

  template <Registered T>
  Offset table(const T& value) {
    std::array<Offset, std::tuple_size_v<decltype(Fields<T>::list)> + 1> children{};
    for_each_field<T>([&](auto index, const auto& f) { children[index] = child(value.*f.member); });
    const auto start = builder_.StartTable();
    add_members<T, 8>(value, children);
    add_members<T, 4>(value, children);
    add_members<T, 1>(value, children);
    return builder_.EndTable(start);
  }

  /// What a member refers to; it has to be written before the table.
  Offset child(Text text) { return string(text); }
  template <Registered T>
  Offset child(const T& value) {
    return table(value);
  }
  template <class T>
  Offset child(List<T> list) {
    if (list.empty()) return 0;
    const std::size_t base = scratch_.size();
    for (const T& element : list) {
      if constexpr (std::is_same_v<T, Text>) {
        scratch_.push_back(present_string(element));
      } else {
        scratch_.push_back(table(element));
      }
    }
    return vector_since(base);
  }
  template <class N>
  Offset child(const N&) {
    return 0;
  }

  template <class T, std::size_t size, class Children>
  void add_members(const T& value, const Children& children) {
    static constexpr T defaults{};
    for_each_field<T>([&]<class M>(auto index, const Field<T, M>& f) {
      const auto at = slot(index);
      if constexpr (wire_size<M>() != size) {
        return;
      } else if constexpr (std::is_same_v<M, Time>) {
        builder_.AddElement<std::int64_t>(at, (value.*f.member).micros, (defaults.*f.member).micros);
      } else if constexpr (std::is_same_v<M, bool> || std::is_enum_v<M>) {
        builder_.AddElement<std::uint8_t>(at, static_cast<std::uint8_t>(value.*f.member), static_cast<std::uint8_t>(defaults.*f.member));
      } else if constexpr (std::is_arithmetic_v<M>) {
        builder_.AddElement<M>(at, value.*f.member, defaults.*f.member);
      } else if constexpr (is_optional<M>) {
        if (value.*f.member) builder_.AddElement<typename M::value_type>(at, *(value.*f.member));
      } else {
        if (children[index] != 0) builder_.AddOffset(at, flatbuffers::Offset<void>(children[index]));
      }
    });
  }

  /// The vector of what was pushed to scratch_ since `base`; 0 when that is nothing.
  Offset vector_since(std::size_t base) {
    if (scratch_.size() == base) return 0;
    const Offset out =
        builder_.CreateVector(reinterpret_cast<const flatbuffers::Offset<void>*>(scratch_.data() + base), scratch_.size() - base).o;
    scratch_.resize(base);
    return out;
  }

  Offset string(Text text) { return text.empty() ? 0 : present_string(text); }

  /// Names come again and again within a step: a small cache finds most of them, and a miss costs only bytes.
  Offset present_string(Text text) {
    Seen& seen = seen_[hash(text) % seen_.size()];
    if (seen.generation == generation_ && written(seen.at) == text) return seen.at;
    seen = {generation_, builder_.CreateString(text.data(), text.size()).o};
    return seen.at;
  }

  Text written(Offset at) const {
    const auto* p = builder_.GetCurrentBufferPointer() + builder_.GetSize() - at;
    return {reinterpret_cast<const char*>(p + sizeof(Offset)), flatbuffers::ReadScalar<Offset>(p)};
  }

  static std::size_t hash(Text text) {
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    const std::size_t n = text.size() < 8 ? text.size() : 8;
    if (n > 0) {
      std::memcpy(&head, text.data(), n);
      std::memcpy(&tail, text.data() + text.size() - n, n);
    }
    const std::uint64_t mixed = (head ^ (tail * 0x9E3779B97F4A7C15ULL) ^ text.size()) * 0xFF51AFD7ED558CCDULL;
    return static_cast<std::size_t>(mixed >> 40);
  }

  struct Seen {
    std::uint64_t generation = 0;
    Offset at = 0;
  };

  flatbuffers::FlatBufferBuilder builder_;
  std::vector<Offset> scratch_;  // a stack of vectors under construction
  std::array<Seen, 256> seen_{};
  std::uint64_t generation_ = 0;
};

Encoder::Encoder() : writer_(std::make_unique<Writer>()) {}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

std::span<const std::byte> Encoder::encode(const RecordView& record) & { return writer_->write(record); }

std::vector<std::byte> encode(const RecordView& record) {
  Encoder encoder;
  const auto bytes = encoder.encode(record);
  return {bytes.begin(), bytes.end()};
}

}  // namespace hindsight::events
