import Sessions
import Testing

@testable import PostgresStore

/// What is told of an error of the server, by its SQLSTATE: damage is only what neither waiting nor a change elsewhere mends.
@Suite("PostgreSQL: errors") struct DatabaseErrorTests {
    @Test(
        "an error that an operator or the end of another transaction cures is unavailable",
        arguments: ["40001", "40P01", "55P03", "23505", "25006", "25P03", "42501", "53300", "57014", "57P01", "08006"])
    func unavailable(state: String) {
        let error = DatabaseError.refused(state: state, message: "no")
        // A right that is missing is missing for every connection: none is made anew.
        #expect(error.consequence != .failsChange || state == "42501")
        guard case .unavailable = error.storeError else { return #expect(Bool(false), "\(error.storeError)") }
    }

    @Test("an error that contradicts the schema is damage", arguments: ["23514", "42P01", "42703", "XX001", "XX002"])
    func corrupted(state: String) {
        let error = DatabaseError.refused(state: state, message: "no").storeError
        guard case .corrupted = error else { return #expect(Bool(false), "\(error)") }
    }
}
