#include "runtime/certificate_store.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>

#include "connectors/kubernetes/auth/base64.hpp"
#include "connectors/manifests/json_views.hpp"
#include "connectors/objects/resource_types.hpp"
#include "events/own_file.hpp"
#include "runtime/cluster_requests.hpp"

namespace hindsight::runtime {
namespace {

using connectors::manifests::member;
using operations::SelfSigned;

constexpr std::size_t file_bytes_max = 1 << 20;

/// The parts of a store by the names of their files.
template <class Certificates, class Visit>
void each_part(Certificates& certificates, Visit visit) {
  visit("ca.crt", certificates.authorities);
  visit("ca.key", certificates.authority_key);
  visit("tls.crt", certificates.serving.certificate);
  visit("tls.key", certificates.serving.key);
}

class SecretStore final : public CertificateStore {
 public:
  SecretStore(connectors::kubernetes::KubernetesCluster& cluster, std::string in_namespace, std::string name)
      : cluster_(cluster), namespace_(std::move(in_namespace)), name_(std::move(name)) {}

  Result<SelfSigned> load() override {
    auto secret = read_object(cluster_, connectors::types::secret, namespace_, name_);
    if (!secret) return tl::unexpected(secret.error());
    SelfSigned out;
    version_.clear();
    if (!*secret) return out;
    version_ = connectors::manifests::text(member(**secret, "metadata"), "resourceVersion");
    each_part(out, [&](const char* name, std::string& part) {
      const auto encoded = connectors::manifests::text(member(**secret, "data"), name);
      part = connectors::kubernetes::decode_base64(encoded).value_or("");
    });
    return out;
  }

  Result<void> save(const SelfSigned& certificates) override {
    ObjectJson secret = {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", name_}, {"namespace", namespace_}}}};
    each_part(certificates,
              [&](const char* name, const std::string& part) { secret["data"][name] = connectors::kubernetes::encode_base64(part); });
    connectors::Write write;
    write.type = &connectors::types::secret;
    write.namespace_ = namespace_;
    write.name = name_;
    if (version_.empty()) {
      write.verb = connectors::Write::Verb::create;
      secret["type"] = "kubernetes.io/tls";
      secret["metadata"]["labels"] = {{"app.kubernetes.io/name", "hindsight"}};
    } else {
      secret["metadata"]["resourceVersion"] = version_;
    }
    write.body = secret.dump();
    return write_object(cluster_, std::move(write));
  }

 private:
  connectors::kubernetes::KubernetesCluster& cluster_;
  std::string namespace_, name_;
  std::string version_;  ///< Of what was loaded; empty: there was none.
};

class FolderStore final : public CertificateStore {
 public:
  explicit FolderStore(std::string folder) : folder_(std::move(folder)) {}

  Result<SelfSigned> load() override {
    SelfSigned out;
    each_part(out, [&](const char* name, std::string& part) {
      std::ifstream file(folder_ / name, std::ios::binary);
      if (!file) return;
      part.resize(file_bytes_max);
      file.read(part.data(), static_cast<std::streamsize>(part.size()));
      part.resize(static_cast<std::size_t>(file.gcount()));
    });
    return out;
  }

  Result<void> save(const SelfSigned& certificates) override {
    std::error_code why;
    std::filesystem::create_directories(folder_, why);
    if (why) return fail(ErrorKind::io, folder_.string() + ": " + why.message());
    Result<void> done;
    each_part(certificates, [&](const char* name, const std::string& part) {
      if (done) done = events::replace_file(folder_ / name, std::as_bytes(std::span(part)));
    });
    return done;
  }

 private:
  std::filesystem::path folder_;
};

class MemoryStore final : public CertificateStore {
 public:
  Result<SelfSigned> load() override { return kept_; }
  Result<void> save(const SelfSigned& certificates) override {
    kept_ = certificates;
    return {};
  }

 private:
  SelfSigned kept_;
};

}  // namespace

std::unique_ptr<CertificateStore> secret_store(connectors::kubernetes::KubernetesCluster& cluster, std::string namespace_,
                                               std::string name) {
  return std::make_unique<SecretStore>(cluster, std::move(namespace_), std::move(name));
}

std::unique_ptr<CertificateStore> memory_store() { return std::make_unique<MemoryStore>(); }

std::unique_ptr<CertificateStore> folder_store(std::string folder) { return std::make_unique<FolderStore>(std::move(folder)); }

operations::SelfSignedWish server_wish(const std::string& service, const std::string& namespace_, Duration lifetime) {
  operations::SelfSignedWish wish;
  wish.lifetime = lifetime;
  wish.authority_lifetime = {std::max(wish.authority_lifetime.micros, lifetime.micros * 10)};
  const std::string in_namespace = service + "." + namespace_;
  wish.names = {in_namespace + ".svc", in_namespace, in_namespace + ".svc.cluster.local"};
  return wish;
}

}  // namespace hindsight::runtime
