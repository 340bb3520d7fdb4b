#pragma once

#include <stdexcept>

#include "events/log.hpp"
#include "events/record.hpp"

namespace hindsight::simulation {

/// Calls see(record) for each record of a log that a story left behind; what it is given lives during the call only.
template <class See>
void each_record(const events::Log& log, See see) {
  events::RecordBatch batch;
  if (!log.read(1, {.records = 100'000}, batch)) throw std::runtime_error("the log cannot be read");
  events::RecordReader reader;
  for (const auto stored : batch) {
    const auto record = reader.read(stored.bytes);
    if (!record) throw std::runtime_error(record.error().message);
    see(**record);
  }
}

}  // namespace hindsight::simulation
