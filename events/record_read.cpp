#include <array>
#include <cstring>
#include <string>

#include "events/decision_fields.hpp"
#include "events/record.hpp"
#include "schemas/envelope_generated.h"

namespace hindsight::events {
namespace {

using Bytes = std::span<const std::byte>;

/// Nested lists of the largest steps stay far below; hostile bytes cannot make the verifier run for long.
constexpr flatbuffers::uoffset_t verify_depth_max = 16;
constexpr flatbuffers::uoffset_t verify_tables_max = 4'000'000;

/// Bytes of lists that one byte on the wire may become. Tables can be shared on the wire, so that small hostile input could
/// otherwise grow without bound; the encoder shares none, and its records stay below 40.
constexpr std::size_t growth_max = 64;

/// By number: what a table without fields would be asked for is looked up only when somebody asks.
template <std::size_t I, class W>
decltype(auto) field_of(const W& table) {
  return table.template get_field<I>();
}

/// Turns verified tables into plain structs. The first problem is kept, reading goes on.
class Decoder {
 public:
  Decoder(Arena& arena, std::size_t size) : arena_(arena), budget_(size * growth_max + 4096) {}

  void read_record(const wire::Envelope& w, RecordView& out);
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] Error take_error() { return std::move(error_); }

  template <class T>
  void read_table(const typename Fields<T>::Wire& w, T& out) {
    for_each_field<T>([&](auto index, const auto& f) { read_field(field_of<decltype(index)::value>(w), out.*f.member); });
  }

  template <class E>
  requires std::is_enum_v<E> E enum_value(std::uint8_t number) {
    if (number >= Enumerators<E>::list.size()) {
      refuse(ErrorKind::unsupported, "value " + std::to_string(number) + " of " + std::string(Enumerators<E>::name) +
                                         " is unknown; this build knows 0 to " + std::to_string(Enumerators<E>::list.size() - 1));
      return E{};
    }
    return static_cast<E>(number);
  }

  void refuse(ErrorKind kind, std::string what) {
    if (failed_) return;
    failed_ = true;
    error_ = Error{kind, "record: " + std::move(what)};
  }

 private:
  void read_field(const flatbuffers::String* w, Text& out) {
    if (w != nullptr) out = Text(w->c_str(), w->size());
  }
  void read_field(std::int64_t w, Time& out) { out.micros = w; }
  template <class N>
  requires std::is_arithmetic_v<N>
  void read_field(N w, N& out) { out = w; }
  template <class N>
  void read_field(flatbuffers::Optional<N> w, std::optional<N>& out) {
    if (w) out = *w;
  }
  template <class W, class E>
  requires(std::is_enum_v<W>&& std::is_enum_v<E>) void read_field(W w, E& out) { out = enum_value<E>(static_cast<std::uint8_t>(w)); }
  template <Registered T>
  void read_field(const typename Fields<T>::Wire* w, T& out) {
    if (w != nullptr) read_table(*w, out);
  }
  void read_field(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* w, List<Text>& out) {
    if (w == nullptr) return;
    const auto list = make<Text>(w->size());
    for (flatbuffers::uoffset_t i = 0; i < list.size(); ++i) read_field(w->Get(i), list[i]);
    out = list;
  }
  template <Registered T>
  void read_field(const flatbuffers::Vector<flatbuffers::Offset<typename Fields<T>::Wire>>* w, List<T>& out) {
    if (w == nullptr) return;
    const auto list = make<T>(w->size());
    for (flatbuffers::uoffset_t i = 0; i < list.size(); ++i) read_table(*w->Get(i), list[i]);
    out = list;
  }

  void read_events(const flatbuffers::Vector<flatbuffers::Offset<wire::Decision>>* w, List<Event>& out);

  /// Room for a list; empty when the record asks for more than it can honestly need.
  template <class T>
  std::span<T> make(std::size_t n) {
    if (n * sizeof(T) > budget_) {
      refuse(ErrorKind::corrupt, "its lists share tables");
      budget_ = 0;
      return {};
    }
    budget_ -= n * sizeof(T);
    return arena_.make<T>(n);
  }

  // One reader for each number of a union; nullptr: a number that this build does not know.
  using BodyReader = void (*)(Decoder&, const void*, Body&);
  using EventReader = void (*)(Decoder&, const void*, Event&);
  template <class V>
  struct Readers;
  static const std::array<BodyReader, 256> body_readers;
  static const std::array<EventReader, 256> event_readers;

  Arena& arena_;
  std::size_t budget_;
  bool failed_ = false;
  Error error_;
};

template <class... T>
struct Decoder::Readers<std::variant<T...>> {
  static constexpr std::array<BodyReader, 256> of_observations() {
    std::array<BodyReader, 256> out{};
    ((out[static_cast<std::size_t>(wire::BodyTraits<typename Fields<T>::Wire>::enum_value)] =
          [](Decoder& d, const void* w, Body& body) {
            auto& observation = body.emplace<Observation>(std::in_place_type<T>);
            d.read_table(*static_cast<const typename Fields<T>::Wire*>(w), std::get<T>(observation));
          }),
     ...);
    return out;
  }
  static constexpr std::array<EventReader, 256> of_events() {
    std::array<EventReader, 256> out{};
    ((out[static_cast<std::size_t>(wire::EventTraits<typename Fields<T>::Wire>::enum_value)] =
          [](Decoder& d, const void* w, Event& event) {
            d.read_table(*static_cast<const typename Fields<T>::Wire*>(w), event.emplace<T>());
          }),
     ...);
    return out;
  }
};

constexpr std::array<Decoder::EventReader, 256> Decoder::event_readers = Readers<Event>::of_events();

constexpr std::array<Decoder::BodyReader, 256> Decoder::body_readers = [] {
  auto out = Readers<Observation>::of_observations();
  out[static_cast<std::size_t>(wire::Body::Decisions)] = [](Decoder& d, const void* w, Body& body) {
    const auto& table = *static_cast<const wire::Decisions*>(w);
    auto& decisions = body.emplace<Decisions>();
    decisions.base = table.base();
    decisions.step = d.enum_value<StepKind>(static_cast<std::uint8_t>(table.step()));
    d.read_events(table.events(), decisions.events);
  };
  out[static_cast<std::size_t>(wire::Body::EpochStarted)] = [](Decoder& d, const void* w, Body& body) {
    d.read_table(*static_cast<const wire::EpochStarted*>(w), body.emplace<EpochStarted>());
  };
  out[static_cast<std::size_t>(wire::Body::DecisionsNoted)] = [](Decoder& d, const void* w, Body& body) {
    const auto& table = *static_cast<const wire::DecisionsNoted*>(w);
    auto& noted = body.emplace<DecisionsNoted>();
    noted.base = table.base();
    noted.rules = table.rules();
    d.read_events(table.events(), noted.events);
    d.read_field(table.withdrawn(), noted.withdrawn);
    d.read_field(table.would_not(), noted.would_not);
  };
  return out;
}();

void Decoder::read_events(const flatbuffers::Vector<flatbuffers::Offset<wire::Decision>>* w, List<Event>& out) {
  if (w == nullptr) return;
  const auto list = make<Event>(w->size());
  for (flatbuffers::uoffset_t i = 0; i < list.size(); ++i) {
    const wire::Decision& decision = *w->Get(i);
    const auto tag = static_cast<std::uint8_t>(decision.event_type());
    if (tag == 0 || decision.event() == nullptr) return refuse(ErrorKind::corrupt, "event " + std::to_string(i) + " is empty");
    if (event_readers[tag] == nullptr) {
      return refuse(ErrorKind::unsupported, "event " + std::to_string(i) + " is of the unknown kind " + std::to_string(tag));
    }
    event_readers[tag](*this, decision.event(), list[i]);
  }
  out = list;
}

void Decoder::read_record(const wire::Envelope& w, RecordView& out) {
  if (w.schema_version() == 0) return refuse(ErrorKind::corrupt, "it has no schema version");
  if (w.schema_version() > schema_version) {
    return refuse(ErrorKind::unsupported, "it was written with schema version " + std::to_string(w.schema_version()) +
                                              " by a newer release; this build reads up to " + std::to_string(schema_version));
  }
  const auto tag = static_cast<std::uint8_t>(w.body_type());
  if (tag == 0 || w.body() == nullptr) return refuse(ErrorKind::corrupt, "it has no body");
  if (body_readers[tag] == nullptr) return refuse(ErrorKind::unsupported, "its body is of the unknown kind " + std::to_string(tag));

  out.envelope = Envelope{};
  read_field(w.domain(), out.envelope.domain);
  out.envelope.sequence = w.sequence();
  out.envelope.epoch = w.epoch();
  out.envelope.time.micros = w.time();
  out.envelope.cause = w.cause();
  body_readers[tag](*this, w.body(), out.body);
}

/// Verifies and reads; `bytes` are aligned and outlive the view.
Result<void> read_into(Bytes bytes, Arena& arena, RecordView& out) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (bytes.size() > record_bytes_max) {
    return fail(ErrorKind::corrupt,
                "record: it has " + std::to_string(bytes.size()) + " bytes; at most " + std::to_string(record_bytes_max) + " are allowed");
  }
  flatbuffers::Verifier verifier(data, bytes.size(), verify_depth_max, verify_tables_max);
  if (!wire::VerifyEnvelopeBuffer(verifier)) {
    const bool named = bytes.size() >= 8 && wire::EnvelopeBufferHasIdentifier(data);
    return fail(ErrorKind::corrupt,
                "record: its " + std::to_string(bytes.size()) + " bytes " +
                    (named ? "do not verify" : "do not carry the identifier " + std::string(wire::EnvelopeIdentifier())));
  }
  Decoder decoder(arena, bytes.size());
  decoder.read_record(*wire::GetEnvelope(data), out);
  if (decoder.failed()) return tl::unexpected(decoder.take_error());
  return {};
}

/// Room for the lists of most records beside their bytes, so that a record is one allocation.
std::size_t arena_room(std::size_t size) { return size * 4; }

std::size_t aligned_size(std::size_t size) { return (size + 15) / 16 * 16; }

}  // namespace

Record::Record(Bytes bytes)
    : size_(bytes.size()),
      memory_(std::make_unique_for_overwrite<std::byte[]>(aligned_size(size_) + arena_room(size_))),
      arena_(std::span(memory_.get() + aligned_size(size_), arena_room(size_))) {
  if (!bytes.empty()) std::memcpy(memory_.get(), bytes.data(), bytes.size());
}

Result<std::shared_ptr<const Record>> decode(Bytes bytes) {
  std::shared_ptr<Record> record(new Record(bytes));
  if (auto read = read_into(record->bytes(), record->arena_, record->view_); !read) return tl::unexpected(std::move(read.error()));
  return record;
}

RecordReader::RecordReader() : first_block_(std::size_t{64} << 10), arena_(first_block_) {}

Result<const RecordView*> RecordReader::read(Bytes bytes) {
  arena_.clear();
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0) {
    aligned_.assign(bytes.begin(), bytes.end());
    bytes = aligned_;
  }
  if (auto read = read_into(bytes, arena_, view_); !read) return tl::unexpected(std::move(read.error()));
  return &view_;
}

}  // namespace hindsight::events
