#include "runtime/net/certificates.hpp"
#include "runtime/net/tls.hpp"
#include "tests/net/deployment.hpp"

#include <boost/asio/ssl/context.hpp>
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace hyperframes;
using namespace hyperframes::test;
using std::chrono::hours;

namespace {

std::string what(const expected<void>& e) {
  return e ? "" : e.error().to_string();
}

void write(const std::string& path, const std::string& text) {
  std::ofstream{path} << text;
}

} // namespace

TEST_CASE("the files of one deployment are whole, and make both ends") {
  const deployment d;
  const auto files = d.issue("n");
  CHECK(what(check_tls(files, d.now)) == "");
  for (const auto end : {tls_end::opens, tls_end::accepts})
    CHECK(make_tls(files, end, d.now).value());
}

TEST_CASE("each fault of the files is named, with the file and what to do") {
  const deployment d, other;
  const auto good = d.issue("n");
  const auto foreign = other.issue("n");
  const auto file = [&](const std::string& name) { return d.folder / ("certs/" + name); };
  write(file("text.pem"), "no certificate\n");
  const auto make = std::string{
    ": make a deployment's files with `hyperframes certs init` and `hyperframes certs issue`"};

  CHECK(
    what(check_tls({file("none.pem"), good.key, good.authority}, d.now))
    == file("none.pem") + ": cannot be read; expected the certificate of this process as PEM"
         + make);
  CHECK(
    what(check_tls({good.certificate, file("none.key"), good.authority}, d.now))
    == file("none.key") + ": cannot be read; expected the key of this process's certificate as PEM"
         + make);
  CHECK(
    what(check_tls({good.certificate, good.key, file("none")}, d.now))
    == file("none") + ": cannot be read; expected the authority's certificate as PEM" + make);
  CHECK(
    what(check_tls({d.folder.path(), good.key, good.authority}, d.now))
    == d.folder.path() + ": cannot be read; expected the certificate of this process as PEM"
         + make);
  CHECK(
    what(check_tls({file("text.pem"), good.key, good.authority}, d.now))
    == file("text.pem")
         + ": holds no certificate; expected the certificate of this process as PEM");
  CHECK(
    what(check_tls({good.certificate, good.certificate, good.authority}, d.now))
    == good.certificate + ": holds no key; expected one as PEM, without a pass phrase");
  CHECK(
    what(check_tls({good.certificate, foreign.key, good.authority}, d.now))
    == foreign.key + ": does not belong to the certificate in " + good.certificate
         + "; name the two files that `hyperframes certs issue` has made together");
  CHECK(
    what(check_tls({foreign.certificate, foreign.key, good.authority}, d.now))
    == foreign.certificate + ": is not signed by the authority in " + good.authority
         + " (unable to get local issuer certificate); use the certificates of one deployment, or "
           "issue a "
           "new "
           "one with `hyperframes certs issue`");
}

TEST_CASE("what is not valid yet or any more is named, with its time") {
  const deployment d;
  const auto short_lived = d.issue("short", d.now, 2);
  CHECK(what(check_tls(short_lived, d.now + hours{47})) == "");
  const auto late = what(check_tls(short_lived, d.now + hours{49}));
  CHECK(late.starts_with(short_lived.certificate + ": expired at "));
  CHECK(late.ends_with(" GMT; issue a new one with `hyperframes certs issue`"));
  CHECK(what(check_tls(short_lived, d.now - hours{23})) == "");
  const auto early = what(check_tls(short_lived, d.now - hours{25}));
  CHECK_MESSAGE(early.find(": is not valid before ") != std::string::npos, early);
  CHECK(early.ends_with(" GMT; check this machine's clock"));
  const auto over = what(check_tls(short_lived, d.now + hours{24 * 31}));
  CHECK_MESSAGE(over.find(": expired at ") != std::string::npos, over);
  CHECK(make_tls(short_lived, tls_end::opens, d.now + hours{49}).has_error());
}
