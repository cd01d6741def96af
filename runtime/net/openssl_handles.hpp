#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

/// OpenSSL's objects, freed with their handles.
namespace hyperframes::openssl {

template <auto Free>
struct freed_by {
  void operator()(auto* object) const noexcept { Free(object); }
};
template <class T, auto Free>
using handle = std::unique_ptr<T, freed_by<Free>>;

inline void free_bio(BIO* b) noexcept {
  BIO_free_all(b);
}
using bio = handle<BIO, free_bio>;
using certificate = handle<X509, X509_free>;
using private_key = handle<EVP_PKEY, EVP_PKEY_free>;
using extension = handle<X509_EXTENSION, X509_EXTENSION_free>;
using store = handle<X509_STORE, X509_STORE_free>;
using store_context = handle<X509_STORE_CTX, X509_STORE_CTX_free>;

inline bio memory() {
  return bio{BIO_new(BIO_s_mem())};
}
inline bio memory(const std::string& text) {
  return bio{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}
inline std::string text_in(BIO* b) {
  char* begin = nullptr;
  const auto size = BIO_get_mem_data(b, &begin);
  return {begin, static_cast<std::size_t>(size)};
}

/// The first error that is noted for this thread, in OpenSSL's words; none is noted afterwards.
inline std::string take_error() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const auto* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return reason ? reason : "no reason given";
}

inline certificate read_certificate(const std::string& pem) {
  const auto from = memory(pem);
  certificate c{from ? PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr) : nullptr};
  ERR_clear_error();
  return c;
}

/// A key under a pass phrase counts as none: nobody is asked for it.
inline private_key read_key(const std::string& pem) {
  const auto from = memory(pem);
  const auto no_phrase = [](char*, int, int, void*) { return -1; };
  private_key k{from ? PEM_read_bio_PrivateKey(from.get(), nullptr, no_phrase, nullptr) : nullptr};
  ERR_clear_error();
  return k;
}

inline std::string written(const ASN1_TIME* time) {
  const auto out = memory();
  return out && ASN1_TIME_print(out.get(), time) == 1 ? text_in(out.get()) : "an unknown time";
}

} // namespace hyperframes::openssl
