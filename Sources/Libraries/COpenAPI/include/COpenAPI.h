#pragma once
/* config/openapi.json at build time. */
#include <stddef.h>

const unsigned char *COpenAPI_document(void);
size_t COpenAPI_length(void);
