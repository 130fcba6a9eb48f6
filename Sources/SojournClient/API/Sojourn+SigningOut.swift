extension Sojourn {
    /// Signs the user out: at once, and offline too. Everything of the user is removed from this device. The server is told in
    /// the background as soon as it can be reached, now or after a later start: a program that ends at once calls `settle`
    /// before. The server is not told of a session whose tokens are sealed and locked: that one ends by itself, or when the user
    /// logs in on this device again.
    ///
    /// - Returns: whether the sign-out is stored; not whether the server has been told. If it is false, the state is `signedOut`
    ///   all the same, and each later call tries to write again; but if the process ends before, the user is still signed in.
    @discardableResult public func signOut() async -> Bool {
        await leave(owing: true)
    }

    /// Forgets this device: signs out, tells the server if it can be reached, and deletes the record and the keys. The next login
    /// is that of a new device.
    public func forgetDevice() async throws(SojournError) {
        await leave(owing: true)
        await payDebts()
        do throws(StoreError) {
            for _ in 0..<16 {
                guard let stored = try await store.load() else { break }
                if try await store.replace(stored.version, with: nil) { break }
            }
            _ = try await loadStored()
        } catch {
            guard case .corrupted = error else { throw SojournError(error) }
            do throws(StoreError) { try await store.setAside() } catch { throw SojournError(error) }
        }
        isSigningOut = false
        do throws(KeyError) {
            try await keys.deleteKey(.device)
            try await keys.deleteKey(.presence)
            try await keys.deleteKey(.pin)
        } catch { throw SojournError(error) }
    }

    /// Removes everything of the user.
    ///
    /// - Parameter owing: whether the server still has to be told.
    @discardableResult func leave(owing: Bool) async -> Bool {
        signOuts += 1
        isSigningOut = true
        isOwing = owing
        box.publish(.signedOut(.byUser))
        let isWritten: Bool
        do throws(StoreError) {
            try await settleSignOut()
            isWritten = true
        } catch {
            log("the sign-out could not be stored: \(error)")
            isWritten = false
        }
        await configuration.clearProviderCookies?()
        if isWritten { payDebtsInBackground() }
        return isWritten
    }

    /// Writes a sign-out.
    func settleSignOut() async throws(StoreError) {
        let (secret, isOwing) = (random(32), isOwing)
        var gateID: String?
        try await update { record in
            guard let session = record.session else { return false }
            gateID = session.gateID
            if !isOwing { record.session = nil }
            record.signOut()
            record.retrySecret = secret
            return true
        }
        isSigningOut = false
        let opened = unlocked?.gate
        unlocked = nil
        publishState()
        await opened?.close()
        if let gateID { await gate?.discard(gateID) }
    }

    // MARK: Debts

    /// Tells the server of the sign-outs that it has not heard of. The caller does not wait.
    func payDebtsInBackground() {
        debtTasks += 1
        Task {
            await self.payDebts()
            self.debtTasks -= 1
            self.releaseIdleWaiters()
        }
    }

    func payDebts() async {
        guard !isPayingDebts, let server = try? server() else { return }
        isPayingDebts = true
        defer { isPayingDebts = false }
        var tried: Set<LogoutDebt> = []
        while let record = try? await loadStored()?.record,
            let debt = record.debts.first(where: { !tried.contains($0) })
        {
            tried.insert(debt)
            let isOver = debt.expiresAt.map { $0 < now } ?? false
            if isOver {
                await forget(debt)
            } else {
                switch await pay(debt, server) {
                case .paid: await forget(debt)
                case .refused: continue
                case .unreachable: return
                }
            }
        }
    }

    private enum Payment { case paid, refused, unreachable }

    private func pay(_ debt: LogoutDebt, _ server: ServerAddress) async -> Payment {
        for _ in 0..<2 {
            guard var message = try? debt.message(to: server) else { return .refused }
            if let thumbprint = debt.keyThumbprint {
                do throws(KeyError) {
                    // Without its key the session cannot be ended from here. It ends by itself.
                    guard let key = try await deviceKey(thumbprint) else { return .paid }
                    let proof = try await proof(by: key, message.method, message.url, accessToken: debt.accessToken)
                    message.fields.append(HTTPMessageField("DPoP", proof))
                } catch { return .refused }
            }
            guard let answer = try? await exchange(message, within: configuration.patience) else { return .unreachable }
            if answer.isSuccess { return .paid }
            switch Verdict<TokenAnswer>(of: answer) {
            case .signAgain: continue
            case .unreachable: return .unreachable
            // The server knows the token no more.
            case .ended: return .paid
            default: return ErrorAnswer(parsing: answer.body)?.word == "invalid_token" ? .paid : .refused
            }
        }
        return .refused
    }

    private func forget(_ debt: LogoutDebt) async {
        _ = try? await update { record in
            guard record.debts.contains(debt) else { return false }
            record.debts.removeAll { $0 == debt }
            return true
        }
    }
}
