// llama.cpp's template engine as a port: one JSON request a line on standard input, one answer a line on standard output.
//
//   {"id": 1, "template": "{{ x }}", "context": {"x": 1}}   ->   {"id":1,"output":"1"}
//
// The engine gets the context as it is, without the changes that llama.cpp's server makes to messages and tools. Its errors have neither
// a kind nor a line.

#include <ctime>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

#include "jinja/lexer.h"
#include "jinja/parser.h"
#include "jinja/runtime.h"
#include "json.h"

#include <nlohmann/json.hpp>

using json = nlohmann::ordered_json;

static json error(const char * kind, const std::string & message) {
    return {{"error", {{"kind", kind}, {"message", message}, {"line", nullptr}}}};
}

static std::string render(const std::string & source, const json & context, const std::string & now) {
    const jinja::program program = jinja::parse_from_tokens(jinja::lexer().tokenize(source));
    jinja::context variables(source);
    jinja::global_from_json(variables, common_json::parse(context.dump()), true);
    if (!now.empty()) {
        std::tm time = {};
        std::istringstream(now) >> std::get_time(&time, "%Y-%m-%dT%H:%M:%S");
        time.tm_isdst = -1;
        variables.current_time = std::mktime(&time);
    }
    jinja::runtime runtime(variables);
    std::string output;
    for (const auto & part : runtime.gather_string_parts(runtime.execute(program))->as_string().parts) {
        output += part.val;
    }
    return output;
}

static json answer(const json & request) {
    if (request.contains("describe")) {
        return {{"port", {{"name", "llama.cpp"}, {"version", LLAMA_VERSION}, {"language", "C++"}, {"homepage", "https://github.com/ggml-org/llama.cpp"},
                          {"requests", {"render"}}, {"limits", "off"}}}};
    }
    if (request.contains("apply") || request.value("generation", false)) {
        return {{"unsupported", "it renders, and has no spans"}};
    }
    if (!request.contains("template") || !request["template"].is_string() || !request.contains("context") || !request["context"].is_object()) {
        return error("request", "a template and a context are missing");
    }
    const json now = request.value("now", json());
    try {
        return {{"output", render(request["template"], request["context"], now.is_string() ? now.get<std::string>() : "")}};
    } catch (const jinja::lexer_exception & fault) {
        return error("syntax", fault.what());
    } catch (const jinja::raised_exception & fault) {
        return error("raised", fault.what());
    } catch (const std::exception & fault) {
        return error("runtime", fault.what());
    }
}

int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        json reply = {{"id", nullptr}};
        try {
            const json request = json::parse(line);
            if (!request.is_object()) {
                throw std::invalid_argument("the request is not an object");
            }
            reply["id"] = request.value("id", json());
            reply.update(answer(request));
        } catch (const std::exception & fault) {
            reply.update(error("request", fault.what()));
        }
        std::cout << reply.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
    }
}
