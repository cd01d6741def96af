#include "runtime/net/certificate_folder.hpp"
#include "runtime/net/certificates.hpp"
#include "runtime/net/openssl_handles.hpp"
#include "tests/net/deployment.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace hyperframes;
using namespace hyperframes::test;
namespace fs = std::filesystem;

namespace {

const auto now = std::chrono::system_clock::now();

std::string content_of(const std::string& path) {
  std::ifstream in{path};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool names(const certified_key& c, const std::string& host) {
  const auto certificate = openssl::read_certificate(c.certificate);
  return X509_check_host(certificate.get(), host.c_str(), host.size(), 0, nullptr) == 1
         || X509_check_ip_asc(certificate.get(), host.c_str(), 0) == 1;
}

bool serves(const certified_key& c, int purpose, bool as_authority = false) {
  const auto certificate = openssl::read_certificate(c.certificate);
  return X509_check_purpose(certificate.get(), purpose, as_authority ? 1 : 0) == 1;
}

} // namespace

TEST_CASE("an authority signs, and is nothing else") {
  const auto authority = make_authority(validity::days(now, 10));
  CHECK(serves(authority, X509_PURPOSE_SSL_SERVER, true));
  CHECK(serves(authority, X509_PURPOSE_SSL_CLIENT, true));
  const auto certificate = openssl::read_certificate(authority.certificate);
  CHECK(X509_get_key_usage(certificate.get()) == KU_KEY_CERT_SIGN);
  CHECK(X509_get_pathlen(certificate.get()) == 0);
}

TEST_CASE("a process's certificate serves both ends, names its hosts, and signs nothing") {
  const auto authority = make_authority(validity::days(now, 10));
  const auto c =
    issue_certificate(
      authority, "n", {"n", "10.0.0.2", "fe80::1", "n.example"}, validity::days(now, 5))
      .value();
  CHECK(serves(c, X509_PURPOSE_SSL_SERVER));
  CHECK(serves(c, X509_PURPOSE_SSL_CLIENT));
  CHECK_FALSE(serves(c, X509_PURPOSE_SSL_SERVER, true));
  const auto read = openssl::read_certificate(c.certificate);
  CHECK((X509_get_extension_flags(read.get()) & EXFLAG_CA) == 0);
  for (const auto* host : {"n", "10.0.0.2", "fe80::1", "n.example"})
    CHECK(names(c, host));
  CHECK_FALSE(names(c, "10.0.0.3"));
  const auto again = issue_certificate(authority, "n", {"n"}, validity::days(now, 5)).value();
  CHECK(c.key != again.key);
  CHECK(
    ASN1_INTEGER_cmp(
      X509_get0_serialNumber(openssl::read_certificate(c.certificate).get()),
      X509_get0_serialNumber(openssl::read_certificate(again.certificate).get()))
    != 0);
}

TEST_CASE("what cannot be issued is said") {
  const auto authority = make_authority(validity::days(now, 10));
  const auto why = [&](const certified_key& by, const std::string& host, unsigned days) {
    const auto c = issue_certificate(by, "n", {host}, validity::days(now, days));
    return c ? std::string{} : c.error().to_string();
  };
  CHECK(why(authority, "a", 10) == "");
  const auto long_lived = why(authority, "a", 11);
  CHECK_MESSAGE(long_lived.starts_with("n: the authority is valid until "), long_lived);
  CHECK(long_lived.ends_with(
    ", which is before the certificate would end; ask for fewer days, or make a new authority"));
  for (const auto* host : {"", "a,DNS:b", "a b", "10.0.0.1/8", "email:copy\n"})
    CHECK(
      why(authority, host, 1)
      == "host '" + std::string{host} + "': expected a host's name or IP address");
  const auto other = make_authority(validity::days(now, 10));
  for (const auto& by :
       {certified_key{authority.certificate, other.key}, certified_key{"", other.key},
        certified_key{authority.certificate, "x"}})
    CHECK(
      why(by, "a", 1)
      == "authority: expected a certificate and the key that belongs to it, as PEM; make a new "
         "pair "
         "with `hyperframes certs init`");
}

TEST_CASE("a folder holds keys that only their owner reads, and replaces no file") {
  const scratch_folder scratch;
  const certificate_folder folder{scratch / "a/certs"};
  folder.init(now, 20).value();
  folder.issue("n", {"10.0.0.2"}, now, 10).value();
  const auto files = folder.files_of("n");
  const auto rights = [](const std::string& path) {
    return static_cast<unsigned>(fs::status(path).permissions());
  };
  CHECK(rights(scratch / "a/certs") == 0700);
  CHECK(rights(files.key) == 0600);
  CHECK(rights(scratch / "a/certs/ca.key") == 0600);
  CHECK(rights(files.certificate) == 0644);
  CHECK(std::distance(fs::directory_iterator{scratch / "a/certs"}, {}) == 4);

  const auto key = content_of(files.key), authority = content_of(files.authority);
  const auto stays =
    std::string{": is there already and stays as it is; use another name or folder, or remove the "
                "certificate and its key first"};
  CHECK(folder.init(now, 20).error().to_string() == files.authority + stays);
  CHECK(folder.issue("n", {}, now, 10).error().to_string() == files.certificate + stays);
  fs::remove(files.certificate); // its key alone is kept too
  CHECK(folder.issue("n", {}, now, 10).error().to_string() == files.key + stays);
  CHECK(content_of(files.key) == key);
  CHECK(content_of(files.authority) == authority);
  CHECK(std::distance(fs::directory_iterator{scratch / "a/certs"}, {}) == 3);
}

TEST_CASE("a folder takes names that are names of files, and says what it lacks") {
  const scratch_folder scratch;
  const certificate_folder folder{scratch / "certs"};
  CHECK(
    folder.issue("n", {}, now, 10).error().to_string()
    == (scratch / "certs")
         + "/ca.pem: cannot be read; make an authority with `hyperframes certs init`");
  folder.init(now, 20).value();
  for (const std::string name : {"", "ca", "../n", "a/b", ".n", "-n", "a b", "\n"})
    CHECK(
      folder.issue(name, {}, now, 10).error().to_string()
      == "name '" + name
           + "': expected at most 64 letters, digits, `.`, `_` and `-`, a letter or digit first, "
             "and not "
             "`ca`");
  CHECK(folder.issue(std::string(65, 'a'), {}, now, 10).has_error());
  CHECK(folder.issue(std::string(64, 'a'), {}, now, 10).has_value());
  CHECK(certificate_folder{"/proc/none"}.init(now, 10).has_error());
}
