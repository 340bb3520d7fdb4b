#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hindsight::connectors::kubernetes::testing {

/// One request to the fake server and the means to answer it, in whole or badly. Used on the thread of its connection.
class Exchange {
 public:
  std::string method;
  std::string path;
  std::map<std::string, std::string> query;    ///< Decoded.
  std::map<std::string, std::string> headers;  ///< Names in lower case.
  std::string body;

  void answer(int status, const std::string& text, const std::vector<std::string>& extra_headers = {});
  /// Begins a chunked answer with status 200.
  void begin_stream();
  /// Sends bytes of a stream; false once the client has gone. Blocks while the client takes nothing.
  bool send(const std::string& bytes);
  void end_stream();
  /// Sends bytes as they are, for answers that are no HTTP or never end; false once the client has gone.
  bool send_raw(const std::string& bytes);
  /// Closes the connection in the middle of whatever it is.
  void cut();
  /// Waits until the client closes the connection or the server stops.
  void wait_for_end();
  /// Whether this connection can take another request.
  [[nodiscard]] bool is_open() const { return open_; }

 private:
  friend class FakeApiServer;
  bool write(const std::string& bytes);

  int socket_ = -1;
  bool open_ = true;
  bool answered_ = false;
  const std::atomic<bool>* stopping_ = nullptr;
};

/// An HTTP/1.1 server on a free port of 127.0.0.1 whose answers are made by a function of the test.
class FakeApiServer {
 public:
  /// Called on a thread for each connection, several at a time.
  using Handler = std::function<void(Exchange&)>;

  explicit FakeApiServer(Handler handler);
  ~FakeApiServer();
  FakeApiServer(const FakeApiServer&) = delete;
  FakeApiServer& operator=(const FakeApiServer&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// "METHOD path?query" of all requests so far.
  [[nodiscard]] std::vector<std::string> requests() const;
  [[nodiscard]] std::size_t connections() const;
  /// Closes all connections and takes no new ones, until `reopen`.
  void close();
  void reopen();

 private:
  void listen();
  void accept_all();
  void serve(int socket);

  Handler handler_;
  int port_ = 0;
  int listener_ = -1;
  std::atomic<bool> stopping_{false};
  std::thread acceptor_;
  mutable std::mutex mutex_;
  std::vector<std::thread> threads_;  ///< Guarded by mutex_, as all below.
  std::vector<int> sockets_;
  std::vector<std::string> requests_;
  std::size_t connections_ = 0;
};

}  // namespace hindsight::connectors::kubernetes::testing
