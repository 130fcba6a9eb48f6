import Cryptography
import Testing

/// ID tokens that are signed with what nothing here signs with, by another program, and the keys for them, which were thrown away.
struct ForeignAlgorithm: Sendable, CustomTestStringConvertible {
    let name: String
    /// The key without its `alg`.
    let key: String
    let signature: String

    var testDescription: String { name }

    /// The key as a JWK that says so of its algorithm; nil: it says nothing.
    func jwk(alg: String?) -> String { "{" + key + (alg.map { #","alg":"\#($0)""# } ?? "") + "}" }

    /// The token; `alg`: what its header says instead.
    func token(alg: String? = nil, signature other: String? = nil) -> String {
        let header = #"{"alg":"\#(alg ?? name)","kid":"r1"}"#
        return Base64URL.encode(Array(header.utf8)) + "." + Self.payload + "." + (other ?? signature)
    }

    static let issuer = "https://rsa.example"

    /// Of `issuer`, for `app`, made at the start of each server.
    private static let payload =
        "eyJpc3MiOiJodHRwczovL3JzYS5leGFtcGxlIiwiYXVkIjoiYXBwIiwic3ViIjoidTEiLCJpYXQiOjE4MDAwMDAwMDAsImV4cCI6MTgwMDAwMDMwMH0"

    private static let rsa =
        #""kty":"RSA","kid":"r1","e":"AQAB","n":"w6wSKsc6waVFwmkQZ5b7k3puUS5GFIjQbkzSq99rSNVyG9a_3uTSUwg2UBFWygU1OF3d_4-MZ94z0oSDeHp21YFZ32GGdSyv69dY5vBlQU4XUiHLn0oBav1TQUNuccRrcnvbygy-IZwctzsIWpbxmFZP6FX41PP0hazw_T-_oKrsY3kGFSMbMB1p8mCxJEsXJGRwXD1eobSZSTVk2BFjwAuipZ3jHPACFc8_Thq6Z2wGAPdSFp1ajGnurj-qbsa2tW2akAlIJewCLclTXkOp7sOCGXezec2rezA7VWpFFVzGEam-9R1hzBAIZFUl5flyAAtwrhtTTCtmuXqpi6-qpQ""#

    private static let p384 =
        #""kty":"EC","kid":"r1","crv":"P-384","x":"CxblY8oo1vRI1DQvJ-Dkv-ENmSAtuGa1PrYL986Z9N0EYuj9Z-W6WmzuSImlTm83","y":"UZWSNY2S3FN0T7rZ3erXIcgh7mKOHrMFx11gABftRFmu_UrxCVGTv_S1oha8SSPS""#

    private static let p521 =
        #""kty":"EC","kid":"r1","crv":"P-521","x":"APRqNXBR8yctgMCqvWHnkR8Tc0mgo8tAvbrSuD8YNpbG98z0TUROotWPAxGSBeJjpM0M7-3bTRBgWKnEdSIxXXGR","y":"AJVH7iAa4zAZ9tmNPy2ldhOh5L12-LV-Ja0i1b_pCip0A49J4O6Rwtm_CdQMleD6Ek1N9_2_v60bqF9cF_g2vyJS""#

    /// A key on another curve.
    static let p256 =
        #""kty":"EC","kid":"r1","crv":"P-256","x":"KZW8xE70XkZ0vaOHxUF_hTRS2QMD5hk522wR8OQoSSA","y":"WksMi3LvJabNv8b8VJ0b73vqF8jH6nxM6zAF5yEycdM""#

    /// One of each.
    static let all = [
        ForeignAlgorithm(
            name: "RS256", key: rsa,
            signature:
                "sbslk86oCd7xoGzXhUjf50eLPJi1odfTb6Q0GNflAxpMOeYma9Bxm_lvASYgqREJ9K4h2WMfQQe5fgqwGq22Jz4lYYSH8wY4nivZCuEAbu14RHP9vvBqsSZx3BU_KadPiKvEfckFp2Y91RUou9ydwkYKI-V2pGpiOXJHG03UoxAowYn92wSeSCAinbUvUwQhqV18AcU-SRiYhuFtHout8Sc--WwjtFJI5WK78WIc8IVQ1a-1ow3P8ln-qFIxMJB6SAgzVT6rP0NOlixnansNKIEKGBuGxdTJtW747e9gEcBWl3CLLFyoh3WfVbEcuwFaEyWovuGR1FGHZJ6kqCPVSA"
        ),
        ForeignAlgorithm(
            name: "RS384", key: rsa,
            signature:
                "sjVPo8cKaASXUiHNkaylMK3nyWnHcROCbdGDNpF40-WSnfQ6eBmj66q2-xUv8ijZ4vALKNNsLT30fOu0jkfVgdNwf6k-77eRD_YIK9QjaBfBJxXJr803e-ZVkC9T2REtHFAzH_kcyPp1kEkdL1mCt3H3lNpkVIanFCImEtbELjTrD9BmdjevNwn_7XEVaShV14vQgul_TaOI_mEA4tmul_TGnX5Qol28qZc97BJ5hudvS6wIUOy1t1WSoQHxPmI93sOMHxhuESOXjzBFY2bW2TtaBNUKAJW3RTD7-Q4vVoErCmKWElz0HDpqBBoRUtOdKVt2u9yjLCQPHwXmTyOHOA"
        ),
        ForeignAlgorithm(
            name: "RS512", key: rsa,
            signature:
                "rr1hUNOD4cXFZrFAwLdHFzLE69cEBa3zkclOJ721i-ihkSAbNBAw_YSDRcZHsPw8Cys5peCXeCVdCs8j3gUCWR77vV596TQHUjrBavzrO38Lqrv-2ij-XO8nhR6dyEYqN58XuSM5bmm5EQg2XOCkTCDll984EtlvhO-6UDY_AaNjHTxpPiUKAO4CoddBFs-ZSCMQOP1sLrZ4x5_hdzZ470osUn8T3VUJ9tSae3oxuHWKjdW3T2kYTXtiaxvWi-5Z144SDw5AxNjdpQRLHXoxOui1JAiS7MsNsCEuapoHwAzEZBpwZjRaBSYP-Oyf5hPbZ89q-Bju2v3uyIymDSwP5w"
        ),
        ForeignAlgorithm(
            name: "PS256", key: rsa,
            signature:
                "D79YIlkyVeWRZMe1Rp63P20ZxMVFy-BYmluYT2H_fDSTScjhRrIp-VXUvh3Z7qXkthFDLH9u1MXpfUR_zwv9WolA2x-MzoG7tzfEG2xJz3a35uv896VyTpfIHVjcn7XsCElLgAyDilroDrHTIXSdBEf7JwG_rOUzT6JyDmJDEbA3UxGhoXgtjIYgHJ5Y_er2g1oeb5Vg5T5Zm5lkK6ps_mjJYJP54uPcQMAa_mtU5DOlH5fWdKCwNaMgXixHGSeLRJNosiNTmV2amwzceCxovTWPtvJTh89o_ij-WZwV92NJfE8b2pYaxn6YXw7AE9In906kvSnZ35-LZSHgi6PSWg"
        ),
        ForeignAlgorithm(
            name: "PS384", key: rsa,
            signature:
                "Ov7tHbGqqsi1KycdmLZPZJb4LEw_E8PMfIXRdWfcU-XblDp4fGp3HA_Bl6jCdk4lSD9TLyu6Q_mcKNFf6TZpMPGOh-srpLn2yRNimRAJn-noBB6FrSBnVQ7FUk_9MfMjevoAlARtq1J4vh0Fpc1_jF1JORBFTQbQTudztgTfPrMt9wLX3DcOVQ5tbgjtWzaZfCLdXPGZuyCTubX7Y7S_KeJddmWrkl9H3lHZIGdXOY6mk6j2Mr4ex5YaEK9LrFujsyx07fWGXyNWXXM2NKSs0moLMrU-eIvwUp9wHARXSjLB6invzQfhZ14LhGgqRtA4PWER1LhCa2gUtTw6AVOO6Q"
        ),
        ForeignAlgorithm(
            name: "PS512", key: rsa,
            signature:
                "NITds_RP3VZmeJAigT5APVkRXxbVSXrHb8NPtAh_vVQiKXPDqBIP_-ng5mq-qKSGGUYrFSZztArazX505ApQSir-CHLa3boNUtnLdbpLsMmfo2S8ayyhM_hV_Xl6jCZ668_Bm9_l6QXO4p_xcpzM4LUwkt0n9ZRwNmz7bkscVZa4Dq-kcH6ZklMQsNktvIsAv6zxqqa8SyrUM02954ciaV850vJ822IZMncdI9FcOv96tMiUQN-ggKs7wx9rm00cqkjkOvg1yWr1YilXHuPRlwOXARKWcbKX0gedIXUdLb1at4gp7c024V21Z4gN9VrowvLN_4tv4OPJuB8GQl449Q"
        ),
        ForeignAlgorithm(
            name: "ES384", key: p384,
            signature:
                "PDiOf2CoUmCbARILXti19oOtiBoEk9mKM_yclBtZlCLsvOMQtbokF7lBK0hZkhSAq0yQ2ZRsfVyayBrW2RLXKCkm1Fdn_OSE4yCYSxkBXzLJXs-vpUpsALfSTljk75_O"
        ),
        ForeignAlgorithm(
            name: "ES512", key: p521,
            signature:
                "AYtoIpyC7K9gNPIctEhM5Fm8lSXZ5HDolhF5UHdUkblWOpTyrBslguADrCi3QTV6V4CrOT7SZalAN6R6N1sFb2b1AOmioaN4ycqHj-6mxHlAlFNqOgD7VS8DNt5RprPqL_LWx77gDaP2WMjpVkGhAevHMpEJrZnDQLDLQnZxcwMhw-AY"
        ),
    ]

    /// Signatures over the token of PS256 that are none by RFC 7518: without a salt, and with SHA-1 in MGF1.
    static let otherPSS = [
        "qbYQu-v2_3BodXR3QLYnhUL2HsDV0QmxMN5mY2uofTYl5GHqr0SkGmKx5PbaXvxIV46_T-6gcjf3XoGs45q6IcjLDpXQ2gSy7RJ0B1JP_IgpRpEBu6ORu4-5pgG97bzt3ElQ9sd-gz3jgG2b21uATSuwshXqxh51Kq7hGvVoELMnN24M5KnjSITnm3IKq4l7PCZg0MYqhyY6vlcoK_Y7u_z8tbsfmZDuHag7qufMueF32ZRGTTnOnvf3scYblzNGxBiPZZSwIbdpZP9STI0CQirMJ6QR5Lu18W6U8rMzNIy9O0etVkXJdmGlknRgEwbgsbHjNjD-Y-Xfhm1OcIU90w",
        "RhjzvR_PD9WoqlsfOzTaa_LAkGqgyvtIphGGpkF7Tt3VCQc7I8lVdIU2i1QZl0s14igvT-qNNek2nYfThE8VaSKp6zl7IWtGDUaF4g805xWbmgcJ3HXK9bZPxnP76AVLkIewaInclrMEn4-RyLh1PJQbXlrw11bKWBLXpnOs1WR_4kuXryFWxj8VA1xWPvIvR3OaZeSopOgmMAhD_MFB-83O2IYm7lj_R_3w1s1sId16vlUD21RzILs70KplDR_9AT6KhrfrtZsYvroZiLCIrTdoBGC1cyMT0Q7KmU32um1QghZicOJFAsB_3XzvIKONrzXpceI1COCXpUm7Lmtpuw",
    ]
}
