#pragma once

#include <string>
#include <string_view>

#include "simulation/trace.hpp"

namespace hindsight::simulation {

/// Reads what Slurm's `sacct -P` prints (also -p): a first line that names the columns, and '|' between them; in any order, others are
/// passed over. Needed are JobID, Submit, one of ElapsedRaw, Elapsed or both Start and End, and one of AllocCPUS, ReqCPUS, NCPUS, AllocTRES
/// or ReqTRES. Steps ("17.batch") are passed over. Errors: invalid (no such columns, too many bad lines).
[[nodiscard]] Result<TraceRead> read_sacct(std::string_view text, const std::string& file);

/// "1-02:03:04", "02:03:04", "03:04.500": seconds, rounded down. Nothing: it is no span of Slurm's.
[[nodiscard]] std::optional<std::int64_t> slurm_seconds(std::string_view text);

/// "4G", "1.50T", "16000M", "512": bytes, rounded down; without a unit `unit` bytes. Units are powers of 1024. Nothing: it is no size, or
/// beyond what can be counted.
[[nodiscard]] std::optional<std::int64_t> slurm_bytes(std::string_view text, std::int64_t unit);

}  // namespace hindsight::simulation
