#include "connectors/simulated/busy_server.hpp"

#include <utility>

namespace hindsight::connectors::simulated {

void BusyServer::submit(Write write, std::function<void(WriteAnswer)> done) {
  waiting_.push_back({std::move(write), std::move(done), Time::never()});
  begin_next();
}

void BusyServer::begin_next() {
  while (!waiting_.empty() && under_way_.size() < pace_.at_a_time) {
    waiting_.front().ends = cluster_.now() + pace_.write;
    under_way_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

void BusyServer::run_due() {
  while (!under_way_.empty() && under_way_.front().ends <= cluster_.now()) {
    Request request = std::move(under_way_.front());
    under_way_.pop_front();
    begin_next();
    cluster_.submit(std::move(request.write), std::move(request.done));
  }
}

}  // namespace hindsight::connectors::simulated
