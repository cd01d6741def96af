#include "actors/infer/onnx_header.hpp"

#include <algorithm>
#include <sstream>

namespace hyperframes {

namespace {

/// Declarations are small; what claims to be larger is none.
constexpr std::uint64_t largest_declaration = 1 << 20;

struct malformed {};

/// A field of a protobuf message; what it holds is still in the stream.
struct field {
  std::uint64_t number = 0;
  unsigned wire = 0;        ///< 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes
  std::uint64_t length = 0; ///< bytes that follow, or the value of a varint
};

class message_reader {
public:
  /// @param size bytes of the message.
  message_reader(std::istream& in, std::uint64_t size) : in_(in), left_(size) {}

  bool next(field& f) {
    if (left_ == 0)
      return false;
    const auto key = varint();
    f.number = key >> 3;
    f.wire = static_cast<unsigned>(key & 7);
    if (f.number == 0)
      throw malformed{};
    if (f.wire == 0 || f.wire == 2)
      f.length = varint();
    else if (f.wire == 1 || f.wire == 5)
      f.length = f.wire == 1 ? 8 : 4;
    else
      throw malformed{};
    if (f.wire != 0 && f.length > left_)
      throw malformed{};
    return true;
  }
  void skip(const field& f) {
    if (f.wire == 0)
      return;
    in_.seekg(static_cast<std::streamoff>(f.length), std::ios::cur);
    left_ -= f.length;
  }
  std::string bytes(const field& f) {
    if (f.wire != 2 || f.length > largest_declaration)
      throw malformed{};
    std::string text(static_cast<std::size_t>(f.length), '\0');
    if (!in_.read(text.data(), static_cast<std::streamsize>(text.size())))
      throw malformed{};
    left_ -= f.length;
    return text;
  }
  /// A reader of the message inside; it must be read to its end.
  message_reader inside(const field& f) {
    if (f.wire != 2)
      throw malformed{};
    left_ -= f.length;
    return {in_, f.length};
  }

private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (left_ == 0)
        throw malformed{};
      const int byte = in_.get();
      if (byte < 0)
        throw malformed{};
      --left_;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return value;
    }
    throw malformed{};
  }

  std::istream& in_;
  std::uint64_t left_;
};

template <class Each>
void for_fields(message_reader reader, Each each) {
  for (field f; reader.next(f);)
    if (!each(f, reader))
      reader.skip(f);
}

template <class Each>
void for_fields(const std::string& message, Each each) {
  std::istringstream in(message);
  for_fields(message_reader(in, message.size()), each);
}

/// TensorShapeProto.Dimension: dim_value 1, dim_param 2.
std::int64_t read_side(const std::string& message) {
  std::int64_t side = -1;
  for_fields(message, [&](const field& f, message_reader&) {
    if (f.number == 1 && f.wire == 0) {
      if (f.length > 0x7fffffff)
        throw malformed{};
      side = static_cast<std::int64_t>(f.length);
    }
    return false;
  });
  return side;
}

/// TypeProto.Tensor: elem_type 1, shape 2 (dim 1).
void read_tensor_type(const std::string& message, network_value& to) {
  for_fields(message, [&](const field& f, message_reader& reader) {
    if (f.number == 1 && f.wire == 0)
      to.type = type_from_onnx(static_cast<int>(std::min<std::uint64_t>(f.length, 1000)));
    if (f.number != 2)
      return false;
    for_fields(reader.bytes(f), [&](const field& dim, message_reader& dims) {
      if (dim.number != 1)
        return false;
      to.shape.push_back(read_side(dims.bytes(dim)));
      return true;
    });
    return true;
  });
}

/// ValueInfoProto: name 1, type 2 (TypeProto: tensor_type 1).
network_value read_value(const std::string& message) {
  network_value value;
  for_fields(message, [&](const field& f, message_reader& reader) {
    if (f.number == 1) {
      value.name = reader.bytes(f);
      return true;
    }
    if (f.number != 2)
      return false;
    for_fields(reader.bytes(f), [&](const field& type, message_reader& types) {
      if (type.number != 1)
        return false;
      read_tensor_type(types.bytes(type), value);
      return true;
    });
    return true;
  });
  return value;
}

/// TensorProto: name 8; the rest is weights.
std::string read_tensor_name(message_reader reader) {
  std::string name;
  for_fields(reader, [&](const field& f, message_reader& r) {
    if (f.number != 8)
      return false;
    name = r.bytes(f);
    return true;
  });
  return name;
}

/// GraphProto: initializer 5, input 11, output 12.
void read_graph(message_reader graph, onnx_header& to) {
  std::vector<std::string> initializers;
  for_fields(graph, [&](const field& f, message_reader& reader) {
    if (f.number == 5)
      initializers.push_back(read_tensor_name(reader.inside(f)));
    else if (f.number == 11)
      to.inputs.push_back(read_value(reader.bytes(f)));
    else if (f.number == 12)
      to.outputs.push_back(read_value(reader.bytes(f)));
    else
      return false;
    return true;
  });
  std::erase_if(to.inputs, [&](const network_value& v) {
    return std::find(initializers.begin(), initializers.end(), v.name) != initializers.end();
  });
}

/// StringStringEntryProto: key 1, value 2.
void read_metadata(const std::string& message, onnx_header& to) {
  std::string key, value;
  for_fields(message, [&](const field& f, message_reader& reader) {
    if (f.number != 1 && f.number != 2)
      return false;
    (f.number == 1 ? key : value) = reader.bytes(f);
    return true;
  });
  if (key == "names")
    to.class_names = names_in_metadata(value);
}

} // namespace

expected<onnx_header> read_onnx_header(std::istream& in) try {
  in.seekg(0, std::ios::end);
  const auto size = in.tellg();
  in.seekg(0);
  if (!in || size <= 0)
    return make_error(errc::model_failed, "", "is empty or cannot be read, expected an ONNX model");
  onnx_header header;
  bool graph = false;
  // ModelProto: graph 7, metadata_props 14.
  for_fields(
    message_reader(in, static_cast<std::uint64_t>(size)),
    [&](const field& f, message_reader& reader) {
      if (f.number == 7) {
        read_graph(reader.inside(f), header);
        graph = true;
      } else if (f.number == 14) {
        read_metadata(reader.bytes(f), header);
      } else {
        return false;
      }
      return true;
    });
  if (!graph || header.outputs.empty())
    throw malformed{};
  return header;
} catch (const malformed&) {
  return make_error(errc::model_failed, "", "is not an ONNX model, or is damaged");
}

std::vector<std::string> names_in_metadata(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const auto quote = text.find_first_of("'\"", at);
    if (quote == std::string::npos)
      break;
    const auto end = text.find(text[quote], quote + 1);
    if (end == std::string::npos)
      break;
    names.push_back(text.substr(quote + 1, end - quote - 1));
    at = end + 1;
  }
  return names;
}

std::optional<data_type> type_from_onnx(int number) {
  switch (number) {
    case 1:
      return data_type::float32;
    case 2:
    case 9: // bool: a byte
      return data_type::uint8;
    case 6:
      return data_type::int32;
    case 7:
      return data_type::int64;
    case 10:
      return data_type::float16;
    default:
      return std::nullopt;
  }
}

} // namespace hyperframes
