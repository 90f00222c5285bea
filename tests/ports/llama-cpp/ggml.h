// The one name of llama.cpp's library that its JSON needs.
#pragma once
#include <stdexcept>

#define GGML_ASSERT(x) \
    do { \
        if (!(x)) throw std::logic_error("GGML_ASSERT: " #x); \
    } while (0)
