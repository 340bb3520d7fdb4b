#include "bench/kubernetes/bare_loop.hpp"

#include <curl/curl.h>

namespace hindsight::connectors::kubernetes::bench {
namespace {

std::size_t ignore(char* /*data*/, std::size_t /*one*/, std::size_t size, void* /*unused*/) { return size; }

curl_slist* headers(const Connection& connection, const char* content_type) {
  curl_slist* list = curl_slist_append(nullptr, ("Authorization: Bearer " + connection.user.token).c_str());
  list = curl_slist_append(list, content_type);
  return curl_slist_append(list, "Accept: application/json");
}

}  // namespace

struct BareLoop::State {
  std::string server;
  CURLM* multi = nullptr;
  curl_slist* patch_headers = nullptr;
  curl_slist* create_headers = nullptr;
  std::vector<CURL*> handles;
};

BareLoop::BareLoop(const Connection& connection, std::size_t in_flight) : state_(new State) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  state_->server = connection.server;
  state_->multi = curl_multi_init();
  curl_multi_setopt(state_->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  curl_multi_setopt(state_->multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
  state_->patch_headers = headers(connection, "Content-Type: application/merge-patch+json");
  state_->create_headers = headers(connection, "Content-Type: application/json");
  for (std::size_t i = 0; i < in_flight; ++i) {
    CURL* easy = curl_easy_init();
    curl_blob authority{const_cast<char*>(connection.authority_pem.data()), connection.authority_pem.size(), CURL_BLOB_COPY};
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &authority);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &ignore);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    state_->handles.push_back(easy);
  }
}

BareLoop::~BareLoop() {
  for (CURL* easy : state_->handles) curl_easy_cleanup(easy);
  curl_multi_cleanup(state_->multi);
  curl_slist_free_all(state_->patch_headers);
  curl_slist_free_all(state_->create_headers);
  delete state_;
}

std::size_t BareLoop::send(const std::vector<BareWrite>& writes) {
  std::size_t next = 0;
  std::size_t succeeded = 0;
  const auto begin = [&](CURL* easy) {
    const BareWrite& write = writes[next++];
    curl_easy_setopt(easy, CURLOPT_URL, (state_->server + write.path).c_str());
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, write.creates ? nullptr : "PATCH");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, write.creates ? state_->create_headers : state_->patch_headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(write.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, write.body.c_str());
    curl_multi_add_handle(state_->multi, easy);
  };
  for (CURL* easy : state_->handles) {
    if (next < writes.size()) begin(easy);
  }
  for (int running = 1; running > 0;) {
    curl_multi_perform(state_->multi, &running);
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(state_->multi, &left)) {
      CURL* easy = message->easy_handle;
      long status = 0;
      curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
      if (message->data.result == CURLE_OK && (status == 200 || status == 201)) ++succeeded;
      curl_multi_remove_handle(state_->multi, easy);
      if (next < writes.size()) {
        begin(easy);
        running = 1;
      }
    }
    if (running > 0) curl_multi_poll(state_->multi, nullptr, 0, 1000, nullptr);
  }
  return succeeded;
}

}  // namespace hindsight::connectors::kubernetes::bench
