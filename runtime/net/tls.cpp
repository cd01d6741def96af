#include "runtime/net/tls.hpp"

#include "runtime/net/openssl_handles.hpp"

#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>

#include <fstream>
#include <sstream>

namespace hyperframes {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

namespace {

constexpr const char* issue_anew = "issue a new one with `hyperframes certs issue`";

error fault(const std::string& file, const std::string& what) {
  return make_error(errc::io_failed, file, what);
}

expected<std::string> content_of(const std::string& file, const std::string& what) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream read;
  read << in.rdbuf(); // fails, and does not throw, where it is a folder
  const auto text = read.str();
  if (text.empty())
    return fault(
      file, "cannot be read; expected " + what
              + " as PEM: make a deployment's files with `hyperframes certs init` and `hyperframes "
                "certs issue`");
  return text;
}

expected<openssl::certificate> certificate_in(const std::string& file, const std::string& what) {
  const auto text = content_of(file, what);
  if (!text)
    return text.error();
  auto certificate = openssl::read_certificate(*text);
  if (!certificate)
    return fault(file, "holds no certificate; expected " + what + " as PEM");
  return certificate;
}

/// Whether `certificate` holds at `now`, with `authority` alone.
expected<void> check_chain(
  const tls_files& files, X509* certificate, X509* authority,
  std::chrono::system_clock::time_point now) {
  const openssl::store trusted{X509_STORE_new()};
  const openssl::store_context context{X509_STORE_CTX_new()};
  if (
    !trusted || !context || X509_STORE_add_cert(trusted.get(), authority) != 1
    || X509_STORE_CTX_init(context.get(), trusted.get(), certificate, nullptr) != 1)
    return fault(files.authority, "cannot be used: " + openssl::take_error());
  X509_VERIFY_PARAM_set_time(
    X509_STORE_CTX_get0_param(context.get()), std::chrono::system_clock::to_time_t(now));
  const bool holds = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  if (holds)
    return {};
  const auto why = X509_STORE_CTX_get_error(context.get());
  const bool own = X509_STORE_CTX_get_error_depth(context.get()) == 0;
  const auto& file = own ? files.certificate : files.authority;
  const auto* at_fault = own ? certificate : authority;
  if (why == X509_V_ERR_CERT_HAS_EXPIRED)
    return fault(
      file, "expired at " + openssl::written(X509_get0_notAfter(at_fault)) + "; "
              + (own ? issue_anew : "make a new authority with `hyperframes certs init`"));
  if (why == X509_V_ERR_CERT_NOT_YET_VALID)
    return fault(
      file, "is not valid before " + openssl::written(X509_get0_notBefore(at_fault))
              + "; check this machine's clock");
  return fault(
    files.certificate, "is not signed by the authority in " + files.authority + " ("
                         + X509_verify_cert_error_string(why)
                         + "); use the certificates of one deployment, or " + issue_anew);
}

} // namespace

expected<void> check_tls(const tls_files& files, std::chrono::system_clock::time_point now) {
  const auto certificate = certificate_in(files.certificate, "the certificate of this process");
  if (!certificate)
    return certificate.error();
  const auto key_text = content_of(files.key, "the key of this process's certificate");
  if (!key_text)
    return key_text.error();
  const auto key = openssl::read_key(*key_text);
  if (!key)
    return fault(files.key, "holds no key; expected one as PEM, without a pass phrase");
  const bool belongs = X509_check_private_key(certificate->get(), key.get()) == 1;
  ERR_clear_error();
  if (!belongs)
    return fault(
      files.key, "does not belong to the certificate in " + files.certificate
                   + "; name the two files that `hyperframes certs issue` has made together");
  const auto authority = certificate_in(files.authority, "the authority's certificate");
  if (!authority)
    return authority.error();
  return check_chain(files, certificate->get(), authority->get(), now);
}

expected<std::shared_ptr<ssl::context>>
make_tls(const tls_files& files, tls_end end, std::chrono::system_clock::time_point now) {
  if (const auto checked = check_tls(files, now); !checked)
    return checked.error();
  auto context = std::make_shared<ssl::context>(
    end == tls_end::opens ? ssl::context::tlsv13_client : ssl::context::tlsv13_server);
  // A resumed session would pass without a look at the peer's certificate.
  SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context->native_handle(), 0);
  // The peer has the authority's certificate: it is not sent along.
  SSL_CTX_set_mode(context->native_handle(), SSL_MODE_NO_AUTO_CHAIN);
  error_code e;
  const auto failed = [&](const std::string& file) {
    return fault(file, "cannot be used: " + e.message());
  };
  if (context->use_certificate_file(files.certificate, ssl::context::pem, e))
    return failed(files.certificate);
  if (context->use_private_key_file(files.key, ssl::context::pem, e))
    return failed(files.key);
  if (context->load_verify_file(files.authority, e))
    return failed(files.authority);
  context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
  return context;
}

} // namespace hyperframes
