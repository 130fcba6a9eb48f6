// JSON: JSON texts (RFC 8259) as values, and values as JSON texts.
//
// This module owns the one type for a JSON value of any kind (JSONValue), the strict reading of texts from outside
// (StrictJSON), and the fast writing of objects with few, known members (JSONObject): every refresh and every log line
// writes one, where an encoder for any value costs more than the signature of a token. It must not know what a member
// means, and it knows no token, no request and no setting.
//
// Reading order: JSONValue, StrictJSON, JSONText, JSONObject.
