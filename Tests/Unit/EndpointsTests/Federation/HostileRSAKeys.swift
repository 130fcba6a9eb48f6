/// RSA keys that were thrown away, with their signatures over one ID token: by openssl, as nothing here signs with RSA.
struct HostileRSA: Sendable {
    let name: String
    let e: String
    let n: String
    let signature: String

    private init(_ name: String, e: String, n: String, signature: String) {
        (self.name, self.e, self.n, self.signature) = (name, e, n, signature)
    }

    var jwk: String { jwk(e: e) }

    func jwk(e: String) -> String { #"{"kty":"RSA","kid":"r1","e":"\#(e)","n":"\#(n)"}"# }

    var token: String { Self.signingInput + "." + signature }

    static let issuer = "https://rsa.example"

    /// `{"alg":"RS256","kid":"r1"}` and the claims of an ID token of `issuer` for `app`, made at the start of each server.
    private static let signingInput =
        "eyJhbGciOiJSUzI1NiIsImtpZCI6InIxIn0.eyJpc3MiOiJodHRwczovL3JzYS5leGFtcGxlIiwiYXVkIjoiYXBwIiwic3ViIjoidTEiLCJpYXQiOjE4MDAwMDAwMDAsImV4cCI6MTgwMDAwMDMwMH0"

    /// The first is as it should be.
    static let all = [
        HostileRSA(
            "2048 bits, 65537", e: "AQAB",
            n:
                "n534pj8LnmzDmRu-yMVvdV3EkaM1HTSQRVKT62L3KD19naC_KdvteOpT8Bie7Du2NwBLVryirfjTGLO0p6PFuV_WVD7MTEnR9EiM2ESxlNNWUOBBhqU2YmDrdnl_PX9Y55fE1nvJ3UzEfPXZapUFZ-0NFAzJWr5nB27rKmmeL2VV4CyS8iCxXRpioX0Vc1yHZJh4REuJ22s0jxekopecZ9Ujd2oUJo78HuOMrBNGf43dMS4NdhdY8N7v7o6HGUKFLG4C-dGEXLhapc6t581g3YHXRUTeS6Yd9uajJz_dRhb96TVq1cOOzIOefEC6onBRYEAk9zbquSmldZ9bsWtqdw",
            signature:
                "Ldxoil4pSp5phJMVgGs8rwA-xiB3prJnIq4dxrYz8jPENeirdZ47fF5-9sbu17fxXIm-n93oGI-frgUG4E63CqvYi5-HIkkmJKguJ469QE-WLPcVZ2Lce_DbqJpJTc0eR4RToiRJZ38xRMauVAtlcFgrNb7jHV7SLu5vrjD7WV8trTiSgefZBMLkQSwnF-ypek8afT9SDImNC5QVMoCgbHhFP0lHxrGER_pso_hwHG2APNLQx_uhYT0_V4Peus9ebAESxZ6ZuRHarj46Gzvh3zdSFrR4jg4_DzdO1d6U9ukXB0_jXKRQ0U02Ai3TR4YiGR2Ll_6IfOfiwP-UDf4rIA"
        ),
        HostileRSA(
            "exponent 3", e: "Aw",
            n:
                "2T9QLHGpDF-nAFJtZOVL98O9xZj9uJ67WTj4tryxVcLL1R4zsQybSfc82O_-KokATDS1s8BBXoTyGg2Z2Wac9RfBywwS8yH_qIVimVqUhOwAnelmh1FggBaajWtMFfF0BEJ3m09qXWzYnNeAYix_HzbvBzMa9WZY-U9KtGL-3h17FjYOt4PoBgepkwiQQaIr9AQi0WpT4P8mX8ce0asGnUCT334BN6jAEEKPuQ1UQAQrFvvSCRQh_2BP6sv3a3RcJVmRgTuU_WK1_b2ZLASOZdZFy6rd6Qzqj9Yl2G-xbrOKDYfPvUDIEZAEwi-FFcYgbebuDaXoTKCnsZDGz8uouQ",
            signature:
                "N1wHbWISmiAazpCYrVFptLENbrmFk_ZF47dCSqQtnkzrPlzLh0hHJSDgqphVNgQ-5E63zUPQlTLc2qkjpJlxBCnYLY0djnKRaJgGKrkLW13_dH-UTbj2dVSok5seOXmN2AbK9jLISAMN0E9hE9-2IAO8D5r4HdOgXVZdw5GP-k_2ZZISnvEEdWkYj3aTbiuVy0oAmbquGcdhDDzhlUGT0JO5oPv9eai_ZkfTrYbU5RWufLb0JxJAxrL87knjCPcpO-kiJmFMFHt2Jzzl53ukK52UJH8PTwzuKXx_JIdAfvzhDjHvnF6wpbylB0pwnprmdJksXMSKiXntRIuU1HjmOw"
        ),
        HostileRSA(
            "1024 bits", e: "AQAB",
            n:
                "tXS6hPQXa1YckRgR3azWLtTdq_McQyK1JDFd5nO0IjF9x8ojqdXDE83K_0Nan5DMB0BY318ywGmAmr_raFYxoLF4FhhGtt_N68jgtRJfbkTNE4aOM5yCmbIKe9EhWcTqxz3Mdc90zxH1rn6mtZ13c-TXQGXSrtPICkhhAtInOas",
            signature:
                "MF9sDMyB-eWQEVRgXhQw6cS83NysaLlm2-0d8f_LV8gxabycwvnEdMQdQjirF2wPlXqePOVKEzfE9SgWLfEgqk5T3yAOkPe0S2dxLLlMiRwkR-52j8gFbqJkrVNl_8onpyDtGnR3XMm2oIg4bIcwhFbIV-nlrGiGhVdZQzN-V_g"
        ),
    ]
}
