#pragma once

// Who can be sent what. Every message stays inside this process; payloads are pointers that have one owner at a time. There are no
// requests: whoever wants an answer says in the message how to give it.
//
//   supervisor ── sequencer (one domain) ── shells: cohort tree, ClusterQueue, Workload parent
//
// Beside the actors there are three plain threads: the appender (writes), the tail (reads back), the timekeeper.

#include <functional>
#include <memory>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/atom.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

#include "actors/batch.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::actors {

class RecordsRead;  // tail.hpp
struct Job;         // node_core.hpp
class StepEngine;   // step_engine.hpp

using round_over = caf::atom_constant<caf::atom("roundover")>;
using start_atom = caf::atom_constant<caf::atom("start")>;
using look_atom = caf::atom_constant<caf::atom("look")>;
using stop_atom = caf::atom_constant<caf::atom("stop")>;
using RecordsPtr = std::shared_ptr<const RecordsRead>;
using JobPtr = std::shared_ptr<Job>;
/// Called between two steps, in the sequencer's thread. True: it has begun a step and wants to be called again when that is over.
using Task = std::function<bool(StepEngine&)>;
using ErrorPtr = std::shared_ptr<const Error>;

/// Lends entities for as long as its batch takes.
using EntityShell = caf::typed_actor<
    // sequencer: work on these messages; the last shell of a round tells the sequencer `round_over`
    caf::reacts_to<BatchPtr>>;

/// Carries out the steps of one domain.
using SequencerActor = caf::typed_actor<
    // supervisor: read the snapshot, follow the log, take the domain
    caf::reacts_to<start_atom>,
    // itself: look again for the end of a log that was out of reach
    caf::reacts_to<look_atom>,
    // last shell of a round: all batches of the round are worked on
    caf::reacts_to<round_over>,
    // tail: these records stand in the log, in this order
    caf::reacts_to<RecordsPtr>,
    // appender: what was to be written may be lost; take the domain anew
    caf::reacts_to<ErrorPtr>,
    // node: do this between two records
    caf::reacts_to<JobPtr>,
    // supervisor: decide nothing more, and quit when all that was taken is applied
    caf::reacts_to<stop_atom>>;

/// A sequencer without log: carries out what tasks ask for (actor_driver.hpp).
using DriverActor = caf::typed_actor<
    // last shell of a round: all batches of the round are worked on
    caf::reacts_to<round_over>,
    // driver: do this between two steps; one at a time
    caf::reacts_to<Task>>;

/// Starts the sequencer, and starts it anew when it or one of its shells has failed.
using SupervisorActor = caf::typed_actor<
    // node: begin
    caf::reacts_to<start_atom>,
    // node: stop the sequencer, then yourself
    caf::reacts_to<stop_atom>>;

}  // namespace hindsight::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hindsight::actors::BatchPtr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hindsight::actors::RecordsPtr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hindsight::actors::JobPtr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hindsight::actors::Task)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hindsight::actors::ErrorPtr)
