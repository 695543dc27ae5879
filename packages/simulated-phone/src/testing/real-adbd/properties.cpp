// Debian's adbd knows no property service: its properties come from a file of the phone.
#include <fstream>
#include <string>

namespace android {
namespace base {

std::string GetProperty(const std::string& key, const std::string& otherwise) {
  std::ifstream file("/data/phone/build.prop");
  const std::string start = key + "=";
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, start.size(), start) == 0) return line.substr(start.size());
  return otherwise;
}

}  // namespace base
}  // namespace android
