package org.json;

public class JSONObject {
    public JSONObject(String json) throws JSONException { throw new UnsupportedOperationException(); }
    public JSONObject optJSONObject(String name) { throw new UnsupportedOperationException(); }
    public String optString(String name) { throw new UnsupportedOperationException(); }
}
