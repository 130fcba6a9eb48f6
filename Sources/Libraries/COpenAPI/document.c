/* In C, because Swift takes a minute to compile an array of so many bytes, and C takes none. */
#include "COpenAPI.h"

#pragma clang diagnostic ignored "-Wc23-extensions"
static const unsigned char document[] = {
#embed "../../../config/openapi/document.json"
};
static const unsigned char schemas[] = {
#embed "../../../config/openapi/schemas.json"
};
static const unsigned char parameters[] = {
#embed "../../../config/openapi/parameters.json"
};
static const unsigned char answers[] = {
#embed "../../../config/openapi/answers.json"
};
static const unsigned char bodies[] = {
#embed "../../../config/openapi/bodies.json"
};

COpenAPIFile COpenAPI_document(void) { return (COpenAPIFile){document, sizeof document}; }
COpenAPIFile COpenAPI_schemas(void) { return (COpenAPIFile){schemas, sizeof schemas}; }
COpenAPIFile COpenAPI_parameters(void) { return (COpenAPIFile){parameters, sizeof parameters}; }
COpenAPIFile COpenAPI_answers(void) { return (COpenAPIFile){answers, sizeof answers}; }
COpenAPIFile COpenAPI_bodies(void) { return (COpenAPIFile){bodies, sizeof bodies}; }
