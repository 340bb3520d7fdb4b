#include "actors/delivery.hpp"

#include <cstddef>
#include <stdexcept>

#include "actors/exception_text.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/queue/cohort_tree.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::actors {

using admission::Message;

namespace {

std::string of_namespace(std::string_view namespace_, std::string_view name) { return std::string(namespace_) + "/" + std::string(name); }

std::string name_of_parent(const admission::WorkloadParent& parent, const Message& message) {
  if (parent.job() || !parent.workloads().empty()) return name_of(parent);
  if (const auto* seen = std::get_if<admission::msg::JobSeen>(&message.payload))
    return std::string(seen->job->kind) + " " + of_namespace(seen->job->meta.namespace_, seen->job->meta.name);
  if (const auto* seen = std::get_if<admission::msg::WorkloadSeen>(&message.payload))
    return "Workload " + of_namespace(seen->workload->meta.namespace_, seen->workload->meta.name);
  return "a Workload";
}

}  // namespace

std::string name_of(const admission::WorkloadParent& parent) {
  if (const auto& job = parent.job()) return std::string(job->kind.text()) + " " + of_namespace(job->namespace_.text(), job->name);
  if (parent.workloads().empty()) return "a Workload";
  const auto& w = parent.workloads().front();
  return "Workload " + of_namespace(w.namespace_.text(), w.name);
}

std::string name_of(const admission::Entity& entity, const Message& message) {
  if (const auto* queue = dynamic_cast<const admission::ClusterQueue*>(&entity)) return "ClusterQueue " + std::string(queue->name().text());
  if (const auto* tree = dynamic_cast<const admission::CohortTree*>(&entity)) return "cohort tree " + std::string(tree->root().text());
  if (const auto* parent = dynamic_cast<const admission::WorkloadParent*>(&entity)) return name_of_parent(*parent, message);
  return "an entity";
}

void work_on(Batch& batch, const MessageHook& hook) {
  auto message = batch.messages.begin();
  for (const auto& part : batch.parts) {
    for (const auto end = message + static_cast<std::ptrdiff_t>(part.messages); message != end; ++message) {
      try {
        if (hook) hook(*message);
        part.entity->receive(*message, batch.context, batch.out);
      } catch (...) {
        throw std::runtime_error(name_of(*part.entity, *message) + " failed at record " + std::to_string(batch.context.sequence) + ": " +
                                 text_of(std::current_exception()));
      }
    }
  }
}

}  // namespace hindsight::actors
