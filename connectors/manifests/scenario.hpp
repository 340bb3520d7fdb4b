#pragma once

#include <optional>
#include <string>
#include <vector>

#include "connectors/manifests/schema.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::manifests {

/// Names the newest Workload of a job, in place of a name.
struct OwnerName {
  std::string kind;
  std::string name;
};

/// A JSON merge patch (RFC 7386) on one object.
struct PatchAction {
  std::string kind;
  std::string namespace_ = "default";
  std::string name;  ///< Empty: `owner` names it.
  std::optional<OwnerName> owner;
  bool status = false;  ///< On the status subresource.
  Json merge;
};

/// All pods of a job have succeeded (or failed).
struct FinishAction {
  std::string kind;  ///< Job or JobSet.
  std::string namespace_ = "default";
  std::string name;
  bool failed = false;
};

struct DeleteAction {
  std::string kind;
  std::string namespace_ = "default";
  std::string name;
};

/// What happens at one moment, in the order of the members.
struct ScenarioStep {
  Duration at;              ///< Since the start.
  std::vector<Json> apply;  ///< Manifests: create, or merge into what exists.
  std::vector<PatchAction> patch;
  std::vector<FinishAction> finish;
  std::vector<DeleteAction> delete_;
};

/// hindsight.dev/v1alpha1 Scenario: what happens to a cluster in virtual time.
struct Scenario {
  std::string name;    ///< The name of its file without ending, or metadata.name where a file holds several.
  std::string source;  ///< "quota-001.yaml:1".
  Json config;         ///< Fields of the controller's configuration file; null: none.
  Json feature_gates;  ///< Object of booleans; null: none.
  std::vector<ScenarioStep> steps;
  /// Pods of every job that is started run and are ready, also of those without hindsight.dev/run-seconds, which have no end. False: what
  /// becomes of those stands in the steps.
  bool runs_every_job = false;
  /// Jobs come suspended where the mutating webhook of a cluster would see to that, also where their manifests leave that out. False: a
  /// manifest is taken as it is written.
  bool defaults_jobs = false;
};

}  // namespace hindsight::connectors::manifests
