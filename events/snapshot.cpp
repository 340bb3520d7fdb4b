#include "events/snapshot.hpp"

#include <cstring>

#include "schemas/snapshot_generated.h"

namespace hindsight::events {
namespace {

std::string_view text(const flatbuffers::String* s) { return s == nullptr ? std::string_view() : std::string_view(s->c_str(), s->size()); }

}  // namespace

std::vector<std::byte> encode_snapshot(const SnapshotMeta& meta, std::uint32_t state_version, std::span<const DomainState> domains) {
  flatbuffers::FlatBufferBuilder builder(1 << 20);
  std::vector<flatbuffers::Offset<wire::DomainState>> states;
  for (const DomainState& domain : domains) {
    builder.ForceVectorAlignment(domain.state.size(), 1, 16);
    const auto state = builder.CreateVector(reinterpret_cast<const std::uint8_t*>(domain.state.data()), domain.state.size());
    const auto name = builder.CreateString(domain.domain.data(), domain.domain.size());
    states.push_back(wire::CreateDomainState(builder, name, domain.sequence, domain.epoch, domain.state_hash, state));
  }
  const auto release = builder.CreateString(meta.release);
  const auto list = builder.CreateVector(states);
  wire::FinishSnapshotBuffer(builder, wire::CreateSnapshot(builder, snapshot_schema_version, meta.position, meta.epoch, meta.time.micros,
                                                           meta.state_hash, release, state_version, list));
  const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return {bytes.begin(), bytes.end()};
}

Result<std::unique_ptr<const Snapshot>> decode_snapshot(std::vector<std::byte> bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size(), 8, 4'000'000);
  if (!wire::VerifySnapshotBuffer(verifier)) {
    return fail(ErrorKind::corrupt, "snapshot: its " + std::to_string(bytes.size()) + " bytes do not verify");
  }
  const wire::Snapshot& w = *wire::GetSnapshot(data);
  if (w.schema_version() > snapshot_schema_version) {
    return fail(ErrorKind::unsupported, "snapshot: it was written with schema version " + std::to_string(w.schema_version()) +
                                            " by a newer release; this build reads up to " + std::to_string(snapshot_schema_version));
  }
  if (w.schema_version() == 0) return fail(ErrorKind::corrupt, "snapshot: it has no schema version");

  auto out = std::make_unique<Snapshot>();
  out->meta_ = {w.position(), w.epoch(), Time{w.time()}, w.schema_version(), w.state_hash(), std::string(text(w.release())), {}};
  out->state_version_ = w.state_version();
  if (w.domains() != nullptr) {
    for (const wire::DomainState* domain : *w.domains()) {
      std::span<const std::byte> state;
      if (domain->state() != nullptr) state = std::as_bytes(std::span(domain->state()->data(), domain->state()->size()));
      out->domains_.push_back({text(domain->domain()), domain->sequence(), domain->epoch(), domain->state_hash(), state});
    }
  }
  if (out->domains_.size() == 1) out->meta_.domain = out->domains_.front().domain;
  out->bytes_ = std::move(bytes);  // moving keeps the bytes where they are
  return out;
}

}  // namespace hindsight::events
