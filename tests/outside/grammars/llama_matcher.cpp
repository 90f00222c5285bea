// Asks llama.cpp's matcher of grammars whether it lets texts through. Standard input has, for each grammar, its length and the number of its
// texts, the grammar, and each text after its length; standard output has a line with a `1` or `0` for each text, or `error`.

#include "ggml.h"
#include "llama-grammar.h"
#include "llama-impl.h"
#include "llama-vocab.h"
#include "unicode.h"

#include <cstdlib>
#include <iostream>
#include <string>

// What the grammar's file needs of the others. There is no vocabulary, and what is wrong with a grammar is not printed.
void ggml_abort(const char *, int, const char *, ...) { std::abort(); }
void llama_log_internal(ggml_log_level, const char *, ...) {}
int32_t llama_vocab::tokenize(const char *, int32_t, llama_token *, int32_t, bool, bool) const { return 0; }

static std::string read_bytes(size_t length) {
    std::string bytes(length, '\0');
    std::cin.get(); // The line feed after the length.
    std::cin.read(bytes.data(), static_cast<std::streamsize>(length));
    return bytes;
}

static bool accepts(const std::string & source, const std::string & text) {
    llama_grammar * grammar = llama_grammar_init_impl(nullptr, source.c_str(), "root", false, nullptr, 0, nullptr, 0);
    const llama_grammar_stacks & stacks = llama_grammar_get_stacks(grammar);
    bool is_alive = true;
    for (const auto point : unicode_cpts_from_utf8(text)) {
        llama_grammar_accept(grammar, point);
        is_alive = !stacks.empty();
        if (!is_alive) {
            break;
        }
    }
    bool is_complete = false;
    for (const auto & stack : stacks) {
        is_complete |= stack.empty();
    }
    llama_grammar_free_impl(grammar);
    return is_alive && is_complete;
}

int main() {
    size_t length = 0, count = 0;
    while (std::cin >> length >> count) {
        const std::string grammar = read_bytes(length);
        llama_grammar * parsed = llama_grammar_init_impl(nullptr, grammar.c_str(), "root", false, nullptr, 0, nullptr, 0);
        std::string answers;
        for (size_t index = 0; index < count; ++index) {
            std::cin >> length;
            const std::string text = read_bytes(length);
            answers += parsed == nullptr ? '0' : accepts(grammar, text) ? '1' : '0';
        }
        std::cout << (parsed == nullptr ? "error" : answers) << std::endl;
        if (parsed != nullptr) {
            llama_grammar_free_impl(parsed);
        }
    }
}
