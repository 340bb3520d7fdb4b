#include "connectors/kubernetes/http/http_channel.hpp"

#include <utility>

namespace hindsight::connectors::kubernetes {

HttpChannel::HttpChannel(Loop& loop, std::shared_ptr<int> depth, CurlMulti::OnDone on_done, const Limits& limits)
    : multi_(loop, std::move(depth), std::move(on_done)) {
  curl_multi_setopt(multi_.get(), CURLMOPT_PIPELINING, limits.multiplexes ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING);
  curl_multi_setopt(multi_.get(), CURLMOPT_MAX_CONCURRENT_STREAMS, limits.streams_max);
  set_connections_max(limits.connections_max);
}

void HttpChannel::set_connections_max(long count) { curl_multi_setopt(multi_.get(), CURLMOPT_MAX_HOST_CONNECTIONS, count); }

CURLMcode HttpChannel::add(CURL* easy, Clock::time_point now) {
  if (under_way_++ == 0) last_heard_ = now;
  return multi_.add(easy);
}

void HttpChannel::remove(CURL* easy) {
  --under_way_;
  multi_.remove(easy);
}

}  // namespace hindsight::connectors::kubernetes
