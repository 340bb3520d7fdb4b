#pragma once

#include "admission/messages.hpp"

namespace hindsight::admission {

/// A part of a large topology: leaves that are neighbours, a block or several. When a cohort tree asks something about a topology for the
/// first time, each part counts its own leaves, all at the same time, and the tree sums up. Where the cut is, and who answers first, does
/// not show in the result: a part writes to its own stretch of the table that the tree has laid out (topology/free_leaves.hpp).
///
/// It keeps nothing from one question to the next. What is free of the leaves is a table of the tree, which a trial changes hundreds of
/// times in one cycle: a part that owned its stretch would have to be asked each time.
class TopologyDomain final : public Entity {
 public:
  explicit TopologyDomain(Address self) : self_(self) {}

  void receive(Message& message, const Context& context, Outbox& out) override;

 private:
  Address self_;
};

}  // namespace hindsight::admission
