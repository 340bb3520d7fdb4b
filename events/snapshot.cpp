#include "events/snapshot.hpp"

#include <zstd.h>

#include <algorithm>
#include <new>

#include "schemas/snapshot_generated.h"

namespace hindsight::events {
namespace {

std::string_view text(const flatbuffers::String* s) { return s == nullptr ? std::string_view() : std::string_view(s->c_str(), s->size()); }

/// The fastest level: the states of a hundred thousand Workloads shrink to a fifth in a tenth of a second, and higher levels gain little.
constexpr int compression_level = 1;

/// What a frame may claim to hold: a few bytes must not make a reader take gigabytes. States with their random uids shrink to a fifth.
std::uint64_t most_in(std::size_t frame) {
  return std::min<std::uint64_t>(snapshot_state_max, (std::uint64_t{64} << 20) + std::uint64_t{256} * frame);
}

/// Nothing: compressed it is no smaller, or a reader would not believe it.
std::vector<std::byte> packed(std::span<const std::byte> state) {
  std::vector<std::byte> out(ZSTD_compressBound(state.size()));
  const std::size_t size = ZSTD_compress(out.data(), out.size(), state.data(), state.size(), compression_level);
  out.resize(ZSTD_isError(size) != 0 || size >= state.size() || state.size() > most_in(size) ? 0 : size);
  return out;
}

Result<std::vector<std::byte>> unpacked(std::span<const std::byte> frame, std::uint64_t size) {
  if (size > most_in(frame.size()))
    return fail(ErrorKind::unsupported, "snapshot: a state of " + std::to_string(size) + " bytes in a frame of " +
                                            std::to_string(frame.size()) + "; allowed: " + std::to_string(most_in(frame.size())));
  // What the frame says of itself is looked at before memory is taken for it.
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != size)
    return fail(ErrorKind::corrupt, "snapshot: its compressed state is not of " + std::to_string(size) + " bytes, as it says");
  try {
    std::vector<std::byte> out(size);
    const std::size_t got = ZSTD_decompress(out.data(), out.size(), frame.data(), frame.size());
    if (ZSTD_isError(got) != 0)
      return fail(ErrorKind::corrupt, std::string("snapshot: its compressed state cannot be read: ") + ZSTD_getErrorName(got));
    if (got != size)
      return fail(ErrorKind::corrupt,
                  "snapshot: its compressed state ends after " + std::to_string(got) + " of " + std::to_string(size) + " bytes");
    return out;
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::unsupported, "snapshot: there is no memory for a state of " + std::to_string(size) + " bytes");
  }
}

}  // namespace

std::vector<std::byte> encode_snapshot(const SnapshotMeta& meta, std::uint32_t state_version, std::span<const DomainState> domains) {
  flatbuffers::FlatBufferBuilder builder(1 << 20);
  std::vector<flatbuffers::Offset<wire::DomainState>> states;
  for (const DomainState& domain : domains) {
    const auto compressed = packed(domain.state);
    const auto bytes = compressed.empty() ? domain.state : std::span<const std::byte>(compressed);
    builder.ForceVectorAlignment(bytes.size(), 1, 16);
    const auto state = builder.CreateVector(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    const auto name = builder.CreateString(domain.domain.data(), domain.domain.size());
    states.push_back(wire::CreateDomainState(builder, name, domain.sequence, domain.epoch, domain.state_hash, state,
                                             compressed.empty() ? 0 : domain.state.size()));
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
      if (domain->state_size() != 0) {
        auto whole = unpacked(state, domain->state_size());
        if (!whole) return tl::unexpected(whole.error());
        state = out->unpacked_.emplace_back(std::move(*whole));
      }
      out->domains_.push_back({text(domain->domain()), domain->sequence(), domain->epoch(), domain->state_hash(), state});
    }
  }
  if (out->domains_.size() == 1) out->meta_.domain = out->domains_.front().domain;
  out->bytes_ = std::move(bytes);  // moving keeps the bytes where they are
  return out;
}

}  // namespace hindsight::events
