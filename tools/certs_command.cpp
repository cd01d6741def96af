#include "runtime/net/certificate_folder.hpp"
#include "tools/commands.hpp"

#include <iostream>

namespace hyperframes::command {

int certs_init(const certs_arguments& arguments) {
  const certificate_folder folder{arguments.folder};
  const auto days = arguments.days.value_or(3650);
  folder.init(std::chrono::system_clock::now(), days).value();
  std::cout << folder.files_of("").authority << ": the authority of a deployment, valid for "
            << days << " days; its key stays on this machine\n";
  return done;
}

int certs_issue(const certs_arguments& arguments) {
  const certificate_folder folder{arguments.folder};
  const auto days = arguments.days.value_or(365);
  folder.issue(arguments.name, arguments.hosts, std::chrono::system_clock::now(), days).value();
  const auto files = folder.files_of(arguments.name);
  std::cout << files.certificate << ", " << files.key << ": the process " << arguments.name
            << ", valid for " << days << " days; it needs " << files.authority << " beside them\n";
  return done;
}

} // namespace hyperframes::command
