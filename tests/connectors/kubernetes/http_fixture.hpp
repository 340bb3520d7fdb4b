#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "connectors/kubernetes/http/http_client.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"
#include "tests/connectors/kubernetes/waiting.hpp"

namespace hindsight::connectors::kubernetes::testing {

/// An HTTP client and a server of our own that it talks to.
class HttpFixture : public ::testing::Test {
 protected:
  void start(FakeApiServer::Handler handler, HttpClient::Options options = {}, AuthSource user = {}) {
    server = std::make_unique<FakeApiServer>(std::move(handler));
    connect(server->url(), options, std::move(user));
  }
  void connect(const std::string& url, HttpClient::Options options = {}, AuthSource user = {}) {
    Connection connection;
    connection.server = url;
    connection.description = "the test";
    connection.user = std::move(user);
    connection.user.description = "user \"u\"";
    auto created = HttpClient::create(loop, connection, options,
                                      [this](const Notice& notice) { notices.change([&](auto& list) { list.push_back(notice); }); });
    ASSERT_TRUE(created) << created.error().message;
    http = *std::move(created);
  }
  void TearDown() override {
    if (http) http->stop();
    server.reset();
  }

  static HttpRequest get(const std::string& path) {
    HttpRequest request;
    request.path = path;
    return request;
  }
  HttpClient::RequestId send(HttpRequest request) {
    HttpClient::RequestId id = 0;
    loop.run([&] {
      id = http->send(std::move(request),
                      [this](HttpAnswer answer) { answers.change([&](auto& list) { list.push_back(std::move(answer)); }); });
    });
    return id;
  }
  bool wait_for_answers(std::size_t count) {
    return answers.wait([&](const auto& list) { return list.size() >= count; });
  }
  std::vector<Notice::Kind> kinds_of_notices() {
    std::vector<Notice::Kind> out;
    for (const Notice& notice : notices.get()) out.push_back(notice.kind);
    return out;
  }

  Watched<bool> open;  ///< For handlers that wait.
  std::unique_ptr<FakeApiServer> server;
  Loop loop;
  std::unique_ptr<HttpClient> http;
  Watched<std::vector<HttpAnswer>> answers;
  Watched<std::vector<Notice>> notices;
};

}  // namespace hindsight::connectors::kubernetes::testing
