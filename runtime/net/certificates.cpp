#include "runtime/net/certificates.hpp"

#include "runtime/net/openssl_handles.hpp"

#include <openssl/rand.h>

#include <array>
#include <ctime>

#include <arpa/inet.h>

namespace hyperframes {

namespace {

constexpr const char* authority_name = "HyperFrames authority";

void require(bool done, const char* what) {
  if (!done)
    throw failure(make_error(
      errc::io_failed, "certificate", std::string{what} + " failed: " + openssl::take_error()));
}

std::time_t seconds_of(std::chrono::system_clock::time_point t) {
  return std::chrono::system_clock::to_time_t(t);
}

openssl::private_key make_key() {
  openssl::private_key key{EVP_EC_gen("P-256")};
  require(key != nullptr, "making a key");
  return key;
}

/// 128 random bits, as no two certificates of an authority may have one number.
void set_serial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  require(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1, "drawing a number");
  bytes[0] &= 0x7f; // positive
  bytes[0] |= 0x40;
  const openssl::handle<BIGNUM, BN_free> number{
    BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr)};
  require(
    number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)),
    "setting the number");
}

void add_name(X509_NAME* to, const char* field, const std::string& text) {
  require(
    X509_NAME_add_entry_by_txt(
      to, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.data()),
      static_cast<int>(text.size()), -1, 0)
      == 1,
    "setting the name");
}

void add_extension(X509* to, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  const openssl::extension made{X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str())};
  require(made && X509_add_ext(to, made.get(), -1) == 1, "setting an extension");
}

/// All but extensions and signature.
openssl::certificate make_unsigned(const std::string& name, EVP_PKEY* key, const validity& valid) {
  openssl::certificate certificate{X509_new()};
  require(certificate && X509_set_version(certificate.get(), 2) == 1, "making a certificate");
  set_serial(certificate.get());
  require(
    ASN1_TIME_set(X509_getm_notBefore(certificate.get()), seconds_of(valid.from))
      && ASN1_TIME_set(X509_getm_notAfter(certificate.get()), seconds_of(valid.until)),
    "setting the times");
  auto* subject = X509_get_subject_name(certificate.get());
  add_name(subject, "O", "HyperFrames");
  add_name(subject, "CN", name);
  require(X509_set_pubkey(certificate.get(), key) == 1, "setting the key");
  return certificate;
}

certified_key to_pem(X509* certificate, EVP_PKEY* key) {
  const auto shown = openssl::memory(), secret = openssl::memory();
  require(
    shown && secret && PEM_write_bio_X509(shown.get(), certificate) == 1
      && PEM_write_bio_PKCS8PrivateKey(secret.get(), key, nullptr, nullptr, 0, nullptr, nullptr)
           == 1,
    "writing PEM");
  return {openssl::text_in(shown.get()), openssl::text_in(secret.get())};
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1
         || ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

/// Letters, digits, `-`, `_` and `.`: what cannot be mistaken for the syntax of the extension.
bool is_name(const std::string& host) {
  constexpr const char* allowed =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  return !host.empty() && host.size() <= 253
         && host.find_first_not_of(allowed) == std::string::npos;
}

} // namespace

certified_key make_authority(const validity& valid) {
  const auto key = make_key();
  const auto certificate = make_unsigned(authority_name, key.get(), valid);
  auto* c = certificate.get();
  require(X509_set_issuer_name(c, X509_get_subject_name(c)) == 1, "setting the issuer");
  add_extension(c, c, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(c, c, NID_key_usage, "critical,keyCertSign");
  add_extension(c, c, NID_subject_key_identifier, "hash");
  require(X509_sign(c, key.get(), EVP_sha256()) > 0, "signing");
  return to_pem(c, key.get());
}

expected<certified_key> issue_certificate(
  const certified_key& authority, const std::string& name, const std::vector<std::string>& hosts,
  const validity& valid) {
  const auto signer = openssl::read_certificate(authority.certificate);
  const auto signing_key = openssl::read_key(authority.key);
  if (!signer || !signing_key || X509_check_private_key(signer.get(), signing_key.get()) != 1) {
    ERR_clear_error();
    return make_error(
      errc::io_failed, "authority",
      "expected a certificate and the key that belongs to it, as PEM; make a new pair with "
      "`hyperframes certs init`");
  }
  // One second less, as equal times compare as earlier.
  if (auto last = seconds_of(valid.until) - 1;
      X509_cmp_time(X509_get0_notAfter(signer.get()), &last) < 0)
    return make_error(
      errc::io_failed, name,
      "the authority is valid until " + openssl::written(X509_get0_notAfter(signer.get()))
        + ", which is before the certificate would end; ask for fewer days, or make a new "
          "authority");
  std::string alternatives;
  for (const auto& host : hosts) {
    const bool address = is_address(host);
    if (!address && !is_name(host))
      return make_error(
        errc::graph_invalid, "host '" + host + "'", "expected a host's name or IP address");
    alternatives +=
      (alternatives.empty() ? "" : ",") + std::string{address ? "IP:" : "DNS:"} + host;
  }

  const auto key = make_key();
  const auto certificate = make_unsigned(name, key.get(), valid);
  auto* c = certificate.get();
  require(X509_set_issuer_name(c, X509_get_subject_name(signer.get())) == 1, "setting the issuer");
  add_extension(c, signer.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(c, signer.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(c, signer.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  add_extension(c, signer.get(), NID_subject_key_identifier, "hash");
  add_extension(c, signer.get(), NID_authority_key_identifier, "keyid:always");
  if (!alternatives.empty())
    add_extension(c, signer.get(), NID_subject_alt_name, alternatives);
  require(X509_sign(c, signing_key.get(), EVP_sha256()) > 0, "signing");
  return to_pem(c, key.get());
}

} // namespace hyperframes
